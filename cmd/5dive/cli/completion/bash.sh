# Completion of `5dive browser` and `5dive-browser` for bash. The words after the program go to its verb `complete`, the last
# being the one at the cursor; it prints one candidate a line.
_5dive_browser() {
	local program=("${COMP_WORDS[0]}") first=1 last=$COMP_CWORD
	if [[ ${COMP_WORDS[0]##*/} != 5dive-browser ]]; then
		if ((COMP_CWORD == 1)); then
			mapfile -t COMPREPLY < <(compgen -W browser -- "${COMP_WORDS[1]}")
			return
		fi
		[[ ${COMP_WORDS[1]} == browser ]] || return
		program+=(browser)
		first=2
	fi
	mapfile -t COMPREPLY < <("${program[@]}" complete "${COMP_WORDS[@]:first:last-first+1}" 2>/dev/null)
	if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
		compopt -o nospace
	fi
}
complete -F _5dive_browser 5dive-browser
# A dispatcher named 5dive may complete its own words: leave those alone.
complete -p 5dive &>/dev/null || complete -F _5dive_browser 5dive
