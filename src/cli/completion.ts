// Completion scripts for shells, generated from the command definitions.

import type { Command, Option } from 'commander';
import { UsageError } from './usage-error.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** The script of one shell. */
export function completionScript(program: Command, shell: string): string {
  switch (shell) {
    case 'bash':
      return bash(program);
    case 'zsh':
      return zsh(program);
    case 'fish':
      return fish(program);
    default:
      throw new UsageError(`There is no completion for "${shell}". Choose from ${SHELLS.join(', ')}.`);
  }
}

function bash(program: Command): string {
  const cases = named(program).map(({ names, command }) => `    ${names.join('|')}) words="${flags(program, command).join(' ')}" ;;`);
  const choices = withChoices(program).map(({ flag, words }) => `    ${flag}) words="${words.join(' ')}" ;;`);
  return `# rhythm completion for bash: eval "$(rhythm completion bash)"
_rhythm() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in ${commandNames(program).join('|')}) command="$word"; break ;; esac
  done
  case "$command" in
    "") words="${[...commandNames(program), ...flags(program)].join(' ')}" ;;
${cases.join('\n')}
  esac
  case "$before" in
${choices.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _rhythm rhythm
`;
}

function zsh(program: Command): string {
  const commands = named(program).map(({ names, command }) => `    ${quoted(`${names[0]}:${summary(command)}`)}`);
  const cases = named(program).map(({ names, command }) => {
    const lines = optionsOf(program, command).map(
      (option) => `        ${quoted(`${option.long}[${option.description.replace(/[[\]:]/g, ' ')}]${value(option)}`)}`,
    );
    return `      ${names.join('|')}) _arguments \\\n${lines.join(' \\\n')} \\\n        '*:file:_files' ;;`;
  });
  return `#compdef rhythm
# rhythm completion for zsh: eval "$(rhythm completion zsh)"
_rhythm() {
  local -a commands=(
${commands.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
  else
    local command=\${words[2]}
    shift words; (( CURRENT-- ))
    case $command in
${cases.join('\n')}
    esac
  fi
}
compdef _rhythm rhythm
`;
}

function fish(program: Command): string {
  const lines = named(program).flatMap(({ names, command }) => [
    `complete -c rhythm -n __fish_use_subcommand -a ${names[0]} -d ${quoted(summary(command))}`,
    ...optionsOf(program, command).map((option) => {
      const words = option.argChoices ? ` -xa ${quoted(option.argChoices.join(' '))}` : option.required ? ' -r' : '';
      return `complete -c rhythm -n '__fish_seen_subcommand_from ${names.join(' ')}' -l ${option.long!.slice(2)}${words} -d ${quoted(option.description)}`;
    }),
  ]);
  return `# rhythm completion for fish: rhythm completion fish | source\n${lines.join('\n')}\n`;
}

function named(program: Command): { names: string[]; command: Command }[] {
  return program.commands.map((command) => ({ names: [command.name(), ...command.aliases()], command }));
}

function commandNames(program: Command): string[] {
  return named(program).flatMap(({ names }) => names);
}

function optionsOf(program: Command, command?: Command): Option[] {
  const own = command?.options ?? [];
  const all = [...own, ...program.options.filter(({ long }) => !own.some((option) => option.long === long))];
  return all.filter(({ long }) => long);
}

function flags(program: Command, command?: Command): string[] {
  return optionsOf(program, command).map(({ long }) => long!);
}

function withChoices(program: Command): { flag: string; words: string[] }[] {
  const options = program.commands.flatMap((command) => command.options).filter(({ argChoices }) => argChoices);
  return [...new Map(options.map((option) => [option.long!, option.argChoices!]))].map(([flag, words]) => ({ flag, words }));
}

function summary(command: Command): string {
  return command.description().split(/[.:]/)[0]!;
}

function value(option: Option): string {
  if (option.argChoices) return `:value:(${option.argChoices.join(' ')})`;
  return option.required ? ':value:_files' : '';
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
