# Completion of `5dive browser` and `5dive-browser` for fish. The words after the program go to its verb `complete`, the last being
# the one at the cursor; it prints one candidate a line.
function __5dive_browser
    set -l words (commandline -opc) (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    if not string match -q -r '(^|/)5dive-browser$' -- $program
        if test (count $words) -lt 2
            echo browser
            return
        end
        test $words[1] = browser; or return
        set -a program browser
        set -e words[1]
    end
    set -l flag (string match -r '^--[^=]*=' -- $words[-1])
    for found in ($program complete $words 2>/dev/null)
        echo "$flag$found"
    end
end
complete -c 5dive-browser -f -a '(__5dive_browser)'
# A dispatcher named 5dive keeps its own: fish adds up what each offers.
complete -c 5dive -f -a '(__5dive_browser)'
