import { existsSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../config/config-error.ts';
import { parseChainsFile, readWrittenChains } from '../../config/load-chains.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import type { DataFolder } from './data-folder.ts';

const MAINNET = join(PROJECT_ROOT, 'config/mainnet.json');

/** What the operator chose; without a choice, the chains of the last start go on. */
export interface ChosenChains {
  /** Names or ids; none takes all of the file. */
  readonly chain: readonly string[];
  /** Path of a chains file; default with names: that of the real chains. */
  readonly chains?: string;
}

/**
 * Writes the chains file to start with, which this process removes at its end. References to the environment stay.
 *
 * @throws ConfigError one line: the file is wrong, has no such chain, or needs a variable that is not set
 */
export async function chooseChains(folder: DataFolder, { chain: names, chains: named }: ChosenChains): Promise<void> {
  const path = named ?? (names.length > 0 ? MAINNET : folder.chains);
  if (path === folder.chains && !existsSync(path)) {
    throw new ConfigError('which chains? --chain base takes one of config/mainnet.json, --chains a file of yours');
  }
  const setting = path === folder.chains ? '--data' : '--chains';
  const { file, chains } = readWrittenChains(path, setting);
  const known = chains.map(({ chainId, name }) => [name, String(chainId)] as const);
  const missing = names.find((name) => !known.some((chain) => chain.includes(name)));
  if (missing !== undefined) {
    const list = known.map(([name, id]) => `${name} (${id})`).join(', ');
    throw new ConfigError(`--chain ${missing}: ${path} has ${list}`);
  }
  const isChosen = (_: unknown, index: number) =>
    names.length === 0 || names.some((name) => known[index]?.includes(name));
  const chosen = { ...file, chains: file.chains.filter(isChosen) };
  parseChainsFile(chosen, path, process.env, setting);
  process.once('exit', () => rmSync(folder.nextChains, { force: true }));
  await writeFile(folder.nextChains, JSON.stringify(chosen, undefined, 2), { mode: 0o600 });
}
