import { chmod, chown, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { ConfigError } from '../../config/config-error.ts';
import { parseChainsFile } from '../../config/load-chains.ts';
import { hideUrlSecrets } from '../../config/url-secrets.ts';

type Json = Record<string, unknown>;

/** An entry of a chain as the chains file has it, to be completed. */
export type ChainEntry = Json & { readonly chainId: number; readonly deployments: readonly DeploymentEntry[] };
export type DeploymentEntry = Json & { readonly poolFactory: string };

/** What was done to a chains file. Both lists name keys by their place, such as `8453.deployments.0x….stopLoss`. */
export interface Completion {
  readonly written: readonly string[];
  /** Keys that the file has, with another value than was found. URLs are cut to scheme and host. */
  readonly left: readonly { readonly key: string; readonly file: unknown; readonly found: unknown }[];
}

/** Adds what a chains file lacks of a chain. It changes `file`, and nothing that is there. */
export function complete(file: { chains: Json[] }, { deployments, ...chain }: ChainEntry): Completion {
  const written: string[] = [];
  const left: { key: string; file: unknown; found: unknown }[] = [];
  const fill = (into: Json, from: Json, place: string) => {
    for (const [name, found] of Object.entries(from)) {
      const key = `${place}.${name}`;
      if (!(name in into)) {
        into[name] = found;
        written.push(key);
      } else if (spelling(into[name]) !== spelling(found))
        left.push({ key, file: shown(into[name]), found: shown(found) });
    }
  };
  const entry = findOrAdd(file.chains, ({ chainId }) => chainId === chain.chainId);
  fill(entry, chain, String(chain.chainId));
  entry.deployments ??= [];
  for (const deployment of deployments) {
    const { poolFactory } = deployment;
    const same = ({ poolFactory: other }: Json) => spelling(other) === spelling(poolFactory);
    fill(findOrAdd(entry.deployments as Json[], same), deployment, `${chain.chainId}.deployments.${poolFactory}`);
  }
  return { written, left };
}

function findOrAdd(list: Json[], test: (entry: Json) => boolean): Json {
  const found = list.find(test);
  if (found) return found;
  const added = {};
  list.push(added);
  return added;
}

/** Equal for values that mean the same: addresses in any case. */
const spelling = (value: unknown) => JSON.stringify(value)?.toLowerCase();

const shown = (value: unknown): unknown => JSON.parse(hideUrlSecrets(JSON.stringify(value)));

/**
 * Writes a chains file whole or not at all. Who may read it stays; a new one with URLs that may hold keys, this account
 * alone may.
 *
 * @throws ConfigError when it would be wrong, or cannot be written
 */
export async function writeChainsJson(path: string, file: unknown): Promise<void> {
  parseChainsFile(file, path, null);
  const target = await realpath(path).catch(() => path);
  const unfinished = `${target}.${process.pid}.tmp`;
  try {
    const text = `${JSON.stringify(file, null, 2)}\n`;
    const old = await stat(target).catch(() => null);
    const isOpen = old === null && hideUrlSecrets(text) === text;
    await writeFile(unfinished, text, { flag: 'wx', mode: isOpen ? 0o666 : 0o600 });
    if (old) await chown(unfinished, old.uid, old.gid);
    if (old) await chmod(unfinished, old.mode);
    await rename(unfinished, target);
  } catch (cause) {
    await rm(unfinished, { force: true });
    throw new ConfigError(`cannot write ${path} (${(cause as NodeJS.ErrnoException).code})`, { cause });
  }
}
