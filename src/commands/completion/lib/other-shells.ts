/** Completion for fish and PowerShell. */
import { ASK, type CompletionTable } from './table.ts';

const sorted = (map: Map<string, string[]>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

const fishLookup = (name: string, map: Map<string, string[]>) =>
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
export function fishScript({ words, flags, values, takers }: CompletionTable): string {
  return `# Completion of service for fish: service completion fish | source
${fishLookup('__service_words', words)}
${fishLookup('__service_flags', flags)}
${fishLookup('__service_values', values)}
function __service_find
  set -l name ''
  set -l skip ''
  set -l last $argv[-1]
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
  else if string match -q -- '-*' "$last"
    __service_flags "$name"
  else
    set -l next (__service_words "$name")
    if test (count $next) -gt 0
      printf '%s\\n' $next
    else
      __service_values "$name"
    end
  end
end
function __service_complete
  set -l typed (commandline -opc) (commandline -ct)
  set -l found (__service_find $typed[2..-1])
  if test "$found" = '${ASK}'
    command $typed[1] complete -- $typed[2..-1] 2>/dev/null
  else
    printf '%s\\n' $found
  end
end
for name in service board-service
  complete -c $name -a '(__service_complete)'
end
`;
}

const psTable = (map: Map<string, string[]>) =>
  `@{\n${sorted(map)
    .map(([key, values]) => `  '${key}' = @(${values.map((value) => `'${value}'`).join(', ')})`)
    .join('\n')}\n}`;

/** For PowerShell 5 and later. */
export function powershellScript({ words, flags, values, takers }: CompletionTable): string {
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
  else { $found = $script:ServiceValues[$name] }
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
