import type { ServedChain } from '../chains-config.ts';
import type { BuildersPart } from './builders.ts';
import type { DatabasePart, UrlPart } from './infrastructure.ts';

export interface Endpoints {
  readonly api: string;
  readonly indexer: string;
  readonly database: DatabasePart;
  readonly redis: UrlPart;
  readonly chainsFile: string;
  readonly markets: readonly ServedChain[];
  readonly builders: BuildersPart;
}

/** What is where, and three lines to try. */
export function welcome({ api, indexer, database, redis, chainsFile, markets, builders }: Endpoints): string {
  const places = [
    ['API', api],
    ['API reference', `${api}/docs`],
    ['API key', database.apiKey],
    ['indexer', `${indexer}/status`],
    ...markets.map(({ name, chainId, url }) => [name, `${url} (chain ${chainId})`] as const),
    ['DATABASE_URL', database.url],
    ['REDIS_URL', redis.url],
    ['CHAINS_CONFIG', chainsFile],
    ['mock builders', builders.note],
  ];
  const [market] = markets;
  const pool = market?.scenario.pools.find(({ busy }) => busy)?.address;
  const base = `${api}/public/v1`;
  return [
    ...places.map(([name = '', place]) => `  ${name.padEnd(14)} ${place}`),
    '\nTry, again and again, since trading goes on:\n',
    `  curl -s ${base}/chains`,
    `  curl -s '${base}/evm/${market?.chainId}/metadata?count=2&include24h=true'`,
    `  curl -s ${base}/evm/${market?.chainId}/${pool}/bid_ask`,
    '\nCtrl-C stops everything.',
  ].join('\n');
}
