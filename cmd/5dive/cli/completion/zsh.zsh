#compdef 5dive-browser 5dive
# Completion of `5dive browser` and `5dive-browser` for zsh. The words after the program go to its verb `complete`, the last being
# the one at the cursor; it prints one candidate a line.
_5dive_browser() {
	local -a program=("${words[1]}") found plain open
	local first=2 word=${words[CURRENT]}
	if [[ ${words[1]:t} != 5dive-browser ]]; then
		if ((CURRENT == 2)); then
			compadd -- browser
			return
		fi
		[[ ${words[2]} == browser ]] || return
		program+=(browser)
		first=3
	fi
	found=("${(@f)$("${(@)program}" complete "${(@)words[first,CURRENT]}" 2>/dev/null)}")
	found=(${found:#})
	if [[ $word == --*=* ]]; then
		compset -P '*='
	fi
	open=(${(M)found:#*=})
	plain=(${found:#*=})
	compadd -S '' -- $open
	compadd -- $plain
}
compdef _5dive_browser 5dive-browser
# A dispatcher named 5dive may complete its own words: leave those alone.
(( $+_comps[5dive] )) || compdef _5dive_browser 5dive
