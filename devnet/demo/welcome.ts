import type { ServedChain } from '../chains-config.ts';
import type { BuildersPart } from './builders.ts';
import type { Example } from './examples.ts';
import type { UrlPart } from './infrastructure.ts';

export interface Endpoints {
  readonly api: string;
  readonly apiKey: string;
  readonly indexer: string;
  readonly database: UrlPart;
  readonly redis: UrlPart;
  readonly markets: readonly ServedChain[];
  readonly builders: BuildersPart;
  readonly examples: readonly Example[];
  /** Shell file that sets what the operator's commands need. */
  readonly settingsFile: string;
}

/** What is where, and what to try. */
export function welcome(endpoints: Endpoints): string {
  const { api, apiKey, indexer, database, redis, markets, builders, examples, settingsFile } = endpoints;
  const places = [
    ['explorer', `${api}/`],
    ['API', api],
    ['API reference', `${api}/docs`],
    ['API key', apiKey],
    ['indexer', `${indexer}/status`],
    ...markets.map(({ name, chainId, url }) => [name, `${url} (chain ${chainId})`] as const),
    ['Postgres', database.url],
    ['Redis', redis.note],
    ['mock builders', builders.note],
  ];
  return [
    ...places.map(([name = '', place]) => `  ${name.padEnd(14)} ${place}`),
    '\nTry in another terminal, repeatedly, since trading continues:',
    ...examples.map(({ shows, line }) => `\n  # ${shows}\n  ${line}`),
    "\nThe operator's commands, from the folder of the project:\n",
    `  . ${settingsFile} && npm run status`,
    '\nCtrl-C stops everything.',
  ].join('\n');
}
