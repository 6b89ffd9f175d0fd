import { ConfigError } from '../../config/config-error.ts';
import { parseChainsFile, readWrittenChains } from '../../config/load-chains.ts';

/**
 * The text of a chains file that has only some chains of another one, by name or id. References to the environment stay.
 *
 * @param names chains to keep; none keeps all
 * @throws ConfigError one line: the file is wrong, has no such chain, or needs a variable that is not set
 */
export function chooseChains(path: string, names: readonly string[], env: NodeJS.ProcessEnv): string {
  const { file, chains } = readWrittenChains(path);
  const known = chains.map(({ chainId, name }) => [name, String(chainId)] as const);
  const missing = names.find((name) => !known.some((chain) => chain.includes(name)));
  if (missing !== undefined) {
    const list = known.map(([name, id]) => `${name} (${id})`).join(', ');
    throw new ConfigError(`--chain ${missing}: ${path} has ${list}`);
  }
  const isChosen = (_: unknown, index: number) =>
    names.length === 0 || names.some((name) => known[index]?.includes(name));
  const chosen = { ...file, chains: file.chains.filter(isChosen) };
  parseChainsFile(chosen, path, env);
  return JSON.stringify(chosen, undefined, 2);
}
