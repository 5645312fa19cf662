
# Without the package bash-completion. Bash takes ":" and "=" for words of their own; here
# they are part of the word that they stand in. What follows the cursor is left out.
__PROGRAM_init_completion()
{
    local rest=${COMP_LINE:0:COMP_POINT} i w glued
    COMPREPLY=()
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        w=${COMP_WORDS[i]}
        glued=
        if ((i > 0)) && [[ $rest != [[:blank:]]* ]]; then
            glued=1
        fi
        rest=${rest#"${rest%%[![:blank:]]*}"}
        if ((i == COMP_CWORD)); then
            w=$rest
        fi
        rest=${rest#"$w"}
        if [[ $glued ]]; then
            words[${#words[@]} - 1]+=$w
        else
            words+=("$w")
        fi
    done
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
    prev=
    if ((cword > 0)); then
        prev=${words[cword - 1]}
    fi
}

if ! declare -F _filedir >/dev/null 2>&1; then
    # _filedir offers files, or directories alone with -d.
    _filedir()
    {
        local plain=${cur#[\"\']} kind=-f name
        if [[ $1 == -d ]]; then
            kind=-d
        fi
        COMPREPLY=()
        while IFS= read -r name; do
            COMPREPLY+=("$name")
        done < <(compgen $kind -- "${plain//\\/}")
        if [[ $(type -t compopt) == builtin ]]; then
            compopt -o filenames
        fi
    }
fi
