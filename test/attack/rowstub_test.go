package attack_test

func segmentsRole([]string) error { return nil }
func catchRole([]string) error    { return nil }
func silentRole([]string) error   { return nil }
