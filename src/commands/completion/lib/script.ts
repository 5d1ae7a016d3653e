/** The completion script of a shell: the table as its own data, and a few lines that walk it. */
import type { Catalog, CatalogCommand, CatalogFlag } from '../../../cli/help/catalog.ts';
import { permissions } from '../../../contract/values.ts';
import { policySettings } from '../../board/lib/settings.ts';
import { isPathOfFlag, kindOfArgument, kindOfFlag, takesPath } from './kinds.ts';

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof shells)[number];

/** The script; the same manifest always gives the same one. */
export function completionScript(shell: Shell, catalog: Catalog): string {
  const table = completionTable(catalog);
  if (shell === 'bash') return bashScript(table);
  if (shell === 'zsh') return zshScript(table);
  return shell === 'fish' ? fishScript(table) : powershellScript(table);
}

const clauses = (map: Map<string, readonly string[]>): string =>
  sorted(map)
    .map(([key, values]) => `    '${key}') REPLY='${values.join(' ')}' ;;`)
    .join('\n');

const lookup = (name: string, map: Map<string, readonly string[]>) =>
  `${name}() {\n  REPLY=''\n  case "$1" in\n${clauses(map)}\n  esac\n}`;

/** Finds what can stand in the place of the last word; sets REPLY to it, or to "?" for values to ask for. */
const walk = (takers: string[]) => `_service_find() {
  local name='' skip='' before='' help='' word last="\${@: -1}"
  if [ "$1" = help ] && [ $# -gt 1 ]; then help=1; shift; fi
  set -- "\${@:1:$(($# - 1))}"
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
  if [ -n "$next$help" ]; then REPLY="$next"; fi
}`;

const functions = ({ words, flags, values, takers }: CompletionTable): string =>
  [
    lookup('_service_words', words),
    lookup('_service_flags', flags),
    lookup('_service_values', values),
    walk(takers),
  ].join('\n');

/** For bash 3.2 and later. */
function bashScript(table: CompletionTable): string {
  return `# Completion of service for bash: eval "$(service completion bash)"
${functions(table)}
_service() {
  local REPLY words=() n=0 word line="$COMP_LINE" IFS=$' \\n'
  # Bash breaks words at @ and =, too: what no space stands before goes on.
  for word in "\${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    case "$line" in [[:space:]]*) n=$((n + 1)); line="\${line#"\${line%%[![:space:]]*}"}" ;; esac
    words[n]="\${words[n]}$word"
    line="\${line#"$word"}"
  done
  word="\${words[n]}"
  case "$word" in --*=*) words[n]="\${word%%=*}"; word="\${word#*=}"; words[n+1]="$word" ;; esac
  _service_find "\${words[@]:1}"
  if [ "$REPLY" = '${ASK}' ]; then
    REPLY="$("\${words[0]}" complete -- "\${words[@]:1}" 2>/dev/null)"
  fi
  COMPREPLY=($(compgen -W "$REPLY" -- "$word"))
  # Of a word with =, what stands before it is typed already.
  case "$word" in *=*) COMPREPLY=("\${COMPREPLY[@]#"\${word%%=*}="}") ;; esac
}
complete -o default -F _service service board-service
`;
}

/** For zsh with its completion system. */
function zshScript(table: CompletionTable): string {
  return `#compdef service board-service
# Completion of service for zsh: eval "$(service completion zsh)"
${functions(table)}
_service() {
  local REPLY word="\${words[CURRENT]}"
  local -a typed=("\${(@)words[2,CURRENT]}")
  case "$word" in --*=*) typed[-1]=("\${word%%=*}" "\${word#*=}"); compset -P '*=' ;; esac
  _service_find "\${typed[@]}"
  if [ "$REPLY" = '${ASK}' ]; then
    REPLY="$("\${words[1]}" complete -- "\${typed[@]}" 2>/dev/null)"
  fi
  if [ -n "$REPLY" ]; then compadd -- \${=REPLY}; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _service service board-service
`;
}

const sorted = (map: Map<string, readonly string[]>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

const fishLookup = (name: string, map: Map<string, readonly string[]>) =>
  [
    `function ${name}`,
    '  switch "$argv[1]"',
    ...sorted(map).flatMap(([key, values]) => [
      `    case '${key}'`,
      `      printf '%s\\n' ${values.map((v) => `'${v}'`).join(' ')}`,
    ]),
    '  end',
    'end',
  ].join('\n');

/** For fish 3 and later. */
function fishScript({ words, flags, values, takers, paths }: CompletionTable): string {
  return `# Completion of service for fish: service completion fish | source
${fishLookup('__service_words', words)}
${fishLookup('__service_flags', flags)}
${fishLookup('__service_values', values)}
function __service_paths
  if contains -- "$argv[1]" ${paths.map((path) => `'${path}'`).join(' ')}
    __fish_complete_path "$argv[2]"
  end
end
function __service_find
  set -l name ''
  set -l skip ''
  set -l help ''
  set -l last $argv[-1]
  if test (count $argv) -gt 1 -a "$argv[1]" = help
    set help 1
    set argv $argv[2..-1]
  end
  for word in $argv[1..-2]
    if test -n "$skip"
      set skip ''
      continue
    end
    if contains -- $word ${takers.join(' ')}
      set skip $word
      continue
    end
    if string match -q -- '-*' $word
      continue
    end
    if contains -- $word (__service_words "$name")
      set name (string trim "$name $word")
    end
  end
  if test -n "$skip"
    __service_values "$name $skip"
    __service_paths "$name $skip" "$last"
  else if string match -q -- '-*' "$last"
    __service_flags "$name"
  else
    set -l next (__service_words "$name")
    if test (count $next) -gt 0
      printf '%s\\n' $next
    else if test -z "$help"
      __service_values "$name"
      __service_paths "$name" "$last"
    end
  end
end
function __service_complete
  set -l typed (commandline -opc) (commandline -ct)
  set -l flag
  if string match -qr -- '^--[a-z-]+=' $typed[-1]
    set -l parts (string split -m 1 -- = $typed[-1])
    set typed $typed[1..-2] $parts
    set flag $parts[1]=
  end
  set -l found (__service_find $typed[2..-1])
  if test "$found[1]" = '${ASK}'
    set found (command $typed[1] complete -- $typed[2..-1] 2>/dev/null) $found[2..-1]
  end
  printf '%s\\n' "$flag"$found
end
for name in service board-service
  complete -c $name -f -a '(__service_complete)'
end
`;
}

const psTable = (map: Map<string, readonly string[]>) =>
  `@{\n${sorted(map)
    .map(([key, values]) => `  '${key}' = @(${values.map((value) => `'${value}'`).join(', ')})`)
    .join('\n')}\n}`;

/** For PowerShell 5 and later. */
function powershellScript({ words, flags, values, takers }: CompletionTable): string {
  return `# Completion of service for PowerShell: service completion powershell | Out-String | Invoke-Expression
$script:ServiceWords = ${psTable(words)}
$script:ServiceFlags = ${psTable(flags)}
$script:ServiceValues = ${psTable(values)}
$script:ServiceTakers = @(${takers.map((flag) => `'${flag}'`).join(', ')})
Register-ArgumentCompleter -Native -CommandName service, board-service -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $typed = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -le $cursorPosition } | ForEach-Object { $_.ToString() })
  $before = @($typed | Select-Object -Skip 1)
  if ($wordToComplete -ne '' -and $before.Count -gt 0) { $before = @($before | Select-Object -SkipLast 1) }
  $help = $before.Count -gt 0 -and $before[0] -ceq 'help'
  if ($help) { $before = @($before | Select-Object -Skip 1) }
  $name = ''
  $skip = ''
  foreach ($word in $before) {
    if ($skip -ne '') { $skip = ''; continue }
    if ($script:ServiceTakers -ccontains $word) { $skip = $word; continue }
    if ($word.StartsWith('-')) { continue }
    if ($script:ServiceWords[$name] -ccontains $word) { $name = "$name $word".Trim() }
  }
  if ($skip -ne '') { $found = $script:ServiceValues["$name $skip"] }
  elseif ($wordToComplete.StartsWith('-')) { $found = $script:ServiceFlags[$name] }
  elseif ($script:ServiceWords[$name]) { $found = $script:ServiceWords[$name] }
  elseif (-not $help) { $found = $script:ServiceValues[$name] }
  if ($found -and $found[0] -eq '${ASK}') {
    $last = if ($wordToComplete -eq '') { '""' } else { $wordToComplete }
    $found = @(& $typed[0] complete -- @before $last 2>$null)
  }
  $found | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`;
}

/** In place of values: they are asked of `service complete`. */
const ASK = '?';

interface CompletionTable {
  /** Words so far to the next words: '' to `board`, `board` to `post`. */
  words: Map<string, string[]>;
  /** Words of a command to its flags. */
  flags: Map<string, string[]>;
  /** `board read --has`, or `board archive` for its argument, to the values, or to ASK. */
  values: Map<string, readonly string[]>;
  /** Flags that take a value, wherever they stand. */
  takers: string[];
  /** The keys of `values` under which a file or folder of this machine may stand. */
  paths: string[];
}

/** The table of a manifest, sorted, so that the same manifest gives the same script. */
function completionTable(catalog: Catalog): CompletionTable {
  const table: CompletionTable = { words: new Map(), flags: new Map(), values: new Map(), takers: [], paths: [] };
  const takers = new Set<string>();
  for (const command of Object.values(catalog.commands).filter(({ hidden }) => !hidden))
    for (const id of [command.id, ...command.aliases]) addCommand(table, takers, id.split(':'), command);
  for (const [path, words] of table.words) table.words.set(path, [...new Set(words)].sort());
  table.takers = [...takers].sort();
  table.paths.sort();
  return table;
}

function addCommand(table: CompletionTable, takers: Set<string>, words: string[], command: CatalogCommand): void {
  for (const [i, word] of words.entries()) {
    const path = words.slice(0, i).join(' ');
    table.words.set(path, [...(table.words.get(path) ?? []), word]);
  }
  const name = words.join(' ');
  const flags = Object.values(command.flags).filter(({ hidden }) => !hidden);
  table.flags.set(name, flags.map((flag) => `--${flag.name}`).sort());
  for (const flag of flags.filter(({ type }) => type === 'option')) {
    for (const form of formsOf(flag)) {
      takers.add(form);
      const values = flag.options ?? fixed[`${command.id} --${flag.name}`] ?? (kindOfFlag(flag.name) ? [ASK] : []);
      if (isPathOfFlag(flag)) table.paths.push(`${name} ${form}`);
      if (values.length > 0) table.values.set(`${name} ${form}`, values);
    }
  }
  const first = Object.values(command.args)[0];
  const values = first?.options ?? fixed[command.id] ?? (kindOfArgument(command) ? [ASK] : []);
  if (takesPath(command)) table.paths.push(name);
  if (values.length > 0) table.values.set(name, values);
}

/** Words that are no whole set, so that others may stand there too. */
const fixed: Record<string, readonly string[]> = {
  'board:policy': ['starter', 'recommended'],
  'board:policy --set': policySettings,
  'board:roles --can': permissions,
};

const formsOf = (flag: CatalogFlag) => [`--${flag.name}`, ...(flag.char ? [`-${flag.char}`] : [])];
