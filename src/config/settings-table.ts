// Writes the table of all settings for the documentation; a spec compares it with docs/configuration.md.

import { allSettings } from './setting-paths.js';

/** One Markdown table row per setting. */
export function settingsTable(): string {
  const rows = allSettings().map(({ path, variable, fileKey, setting, seconds }) => {
    const alias = seconds ? ` Also as whole seconds: \`${seconds.variable}\`, \`${seconds.fileKey}\`.` : '';
    const fallback =
      setting.default === undefined ? '' : `\`${Array.isArray(setting.default) ? setting.default.join(',') : String(setting.default)}\``;
    return `| \`${path}\` | \`${variable}\` | \`${fileKey}\` | ${setting.kind.replaceAll('|', '\\|')} | ${fallback} | ${setting.about}${alias} |`;
  });
  return ['| option | variable | rhythm.toml | kind | default | meaning |', '|---|---|---|---|---|---|', ...rows].join('\n');
}
