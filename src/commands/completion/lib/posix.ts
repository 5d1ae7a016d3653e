/** Completion for bash and zsh. */
import { ASK, type CompletionTable } from './table.ts';

const clauses = (map: Map<string, string[]>): string =>
  [...map]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, values]) => `    '${key}') REPLY='${values.join(' ')}' ;;`)
    .join('\n');

const lookup = (name: string, map: Map<string, string[]>) =>
  `${name}() {\n  REPLY=''\n  case "$1" in\n${clauses(map)}\n  esac\n}`;

/** Finds what can stand in the place of the last word; sets REPLY to it, or to "?" for values to ask for. */
const walk = (takers: string[]) => `_service_find() {
  local name='' skip='' before='' word last="\${@: -1}"
  set -- "\${@:1:$#-1}"
  for word in "$@"; do
    before="$word"
    if [ -n "$skip" ]; then skip=''; continue; fi
    case "$word" in
      ${takers.join('|')}) skip=1; continue ;;
      -*) continue ;;
    esac
    _service_words "$name"
    case " $REPLY " in
      *" $word "*) name="\${name:+$name }$word" ;;
    esac
  done
  if [ -n "$skip" ]; then _service_values "$name $before"; return; fi
  case "$last" in -*) _service_flags "$name"; return ;; esac
  local next
  _service_words "$name"; next="$REPLY"
  _service_values "$name"
  [ -n "$next" ] && REPLY="$next"
}`;

const functions = ({ words, flags, values, takers }: CompletionTable): string =>
  [
    lookup('_service_words', words),
    lookup('_service_flags', flags),
    lookup('_service_values', values),
    walk(takers),
  ].join('\n');

/** For bash 3.2 and later. */
export function bashScript(table: CompletionTable): string {
  return `# Completion of service for bash: eval "$(service completion bash)"
${functions(table)}
_service() {
  local REPLY cur="\${COMP_WORDS[COMP_CWORD]}"
  _service_find "\${COMP_WORDS[@]:1:COMP_CWORD}"
  if [ "$REPLY" = '${ASK}' ]; then
    REPLY="$("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)"
  fi
  local IFS=$' \\n'
  COMPREPLY=($(compgen -W "$REPLY" -- "$cur"))
}
complete -o default -F _service service board-service
`;
}

/** For zsh with its completion system. */
export function zshScript(table: CompletionTable): string {
  return `#compdef service board-service
# Completion of service for zsh: eval "$(service completion zsh)"
${functions(table)}
_service() {
  local REPLY
  _service_find "\${(@)words[2,CURRENT]}"
  if [ "$REPLY" = '${ASK}' ]; then
    REPLY="$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"
  fi
  if [ -n "$REPLY" ]; then compadd -- \${=REPLY}; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _service service board-service
`;
}
