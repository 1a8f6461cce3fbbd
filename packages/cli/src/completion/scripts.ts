/** Each asks `coxswain __complete WORD...`, which prints `value<TAB>description` lines and `:4`, or `:0` where files are completed. */
export const completionScripts: Readonly<Record<'bash' | 'zsh' | 'fish', string>> = {
  bash: `# bash completion for coxswain
_coxswain() {
  local line directive=0 cur=\${COMP_WORDS[COMP_CWORD]}
  local -a words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=()
  # bash splits --flag=value in three words.
  local joined=()
  local word
  for word in "\${words[@]}"; do
    local last=$((\${#joined[@]} - 1))
    if [[ $word == = && $last -ge 0 ]]; then joined[last]+==
    elif [[ $last -ge 0 && \${joined[last]} == --*= ]]; then joined[last]+=$word
    else joined+=("$word"); fi
  done
  [[ $cur == = ]] && cur=
  while IFS= read -r line; do
    if [[ $line == :* ]]; then directive=\${line#:}
    else
      line=\${line%%$'\\t'*}
      [[ $line == --*=* && \${COMP_WORDS[*]} == *=* ]] && line=\${line#*=}
      [[ $line == "$cur"* ]] && COMPREPLY+=("$line")
    fi
  done < <("\${COMP_WORDS[0]}" __complete "\${joined[@]}" 2>/dev/null)
  if [[ $directive == 0 && \${#COMPREPLY[@]} == 0 ]]; then compopt -o default 2>/dev/null; fi
}
complete -F _coxswain coxswain
`,
  zsh: `#compdef coxswain
_coxswain() {
  local line directive=0
  local -a found
  while IFS= read -r line; do
    if [[ $line == :* ]]; then directive=\${line#:}
    else
      local value=\${line%%$'\\t'*} text=\${line#*$'\\t'}
      found+=("\${value//:/\\\\:}:$text")
    fi
  done < <(\${words[1]} __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe coxswain found
  [[ $directive == 0 && \${#found} == 0 ]] && _files
}
if [[ $funcstack[1] == _coxswain ]]; then _coxswain "$@"; else compdef _coxswain coxswain; fi
`,
  fish: `# fish completion for coxswain
function __coxswain_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l lines ($words[1] __complete $words[2..-1] 2>/dev/null)
  set -l directive $lines[-1]
  test (count $lines) -gt 1; and printf '%s\\n' $lines[1..-2]
  if test "$directive" = :0; and test (count $lines) -le 1
    __fish_complete_path (commandline -ct)
  end
end
complete -c coxswain -f -a '(__coxswain_complete)'
`,
}
