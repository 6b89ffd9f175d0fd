import { writeFile } from 'node:fs/promises';

/** Writes settings for a shell to read, which only this user may: what the operator's commands need of a run. */
export async function writeShellSettings(path: string, settings: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(settings).map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`);
  await writeFile(path, lines.join(''), { mode: 0o600 });
}
