import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { ownMain } from '../../local/services/own-process.ts';
import type { TempFolder } from '../../local/services/temp-folder.ts';

/** Runs `config:check` as a process of its own, whose environment has nothing but what is given. */
export async function runCheck(parameters: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const args = [...ownMain('config-check'), ...parameters];
  const { exitCode, stdout, stderr } = await execa(process.execPath, args, { env, extendEnv: false, reject: false });
  return { exitCode, stdout, stderr };
}

/** Writes a chains file of one chain, whose tokens have a source of prices. */
export async function writeChain(folder: TempFolder, chain: Readonly<Record<string, unknown>>): Promise<string> {
  const path = join(folder.path, `${Math.random()}.json`);
  await writeFile(path, JSON.stringify({ chains: [chain], fiatPrices: { source: 'defillama' } }));
  return path;
}
