import { completionWord, shells } from "../command-words.ts";
import { UsageError } from "../failures/refusals.ts";
import type { Terminal } from "../terminal/terminal.ts";

// The scripts run the program by the word with which the line begins, so that they complete what that program can do.
// None evaluates what was typed or what it gets: they only insert it.

// Bash 3.2 of macOS has no mapfile, and no compopt.
const bash = `# Completion of till for Bash. Add to ~/.bashrc:
# source <(till completion bash)
_till_complete() {
  local line kind= till=\${1/#\\~\\//$HOME/}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $kind ]]; then kind=$line
    else COMPREPLY+=("$line"); fi
  done < <("$till" ${completionWord} bash \\
    "$COMP_TYPE" "$COMP_WORDBREAKS" \\
    "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null)
  if [[ $kind == files ]]; then
    compopt -o default 2>/dev/null
  fi
}
complete -F _till_complete till
`;

const zsh = `#compdef till
# Completion of till for Zsh. Add to ~/.zshrc, after compinit:
# source <(till completion zsh)
_till() {
  local line till=\${(Q)words[1]}
  local -a lines values shown before
  till=\${till/#\\~\\//$HOME/}
  before=("\${(@Q)words[2,CURRENT-1]}")
  lines=("\${(@f)$("$till" ${completionWord} zsh \\
    "\${before[@]}" "\${(Q)PREFIX}" 2>/dev/null </dev/null)}")
  if [[ $lines[1] == files ]]; then
    _files
    return
  fi
  for line in "\${(@)lines[2,-1]}"; do
    values+=("\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  -- }")
  done
  (( $#values )) && compadd -l -d shown -a values
}
if [[ $funcstack[1] == _till ]]; then
  _till "$@"
else
  compdef _till till
fi
`;

const fish = `# Completion of till for fish. Save it as a file:
# till completion fish > ~/.config/fish/completions/till.fish
function __till_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] ${completionWord} fish \\
        $words[2..-1] "$current" 2>/dev/null </dev/null)
    if test "$lines[1]" = files
        __fish_complete_path (commandline -ct)
    else if test (count $lines) -gt 1
        printf '%s\\n' $lines[2..-1]
    end
end
complete -c till -f -a '(__till_complete)'
`;

const scripts: Readonly<Record<(typeof shells)[number], string>> = { bash, zsh, fish };

/** `till completion`: prints the script for a shell. */
export function printScript(terminal: Terminal, shell: string): void {
  const known = shells.find((name) => name === shell);
  if (known === undefined) {
    throw new UsageError(
      `There is no completion for ${JSON.stringify(shell)}. Give ${shells.join(", ")}.`,
    );
  }
  const script = scripts[known];
  if (terminal.form === "json") terminal.data(JSON.stringify({ shell, script }));
  else terminal.surroundings.stdout.write(script);
}
