import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from 'viem';
import { BatchResponse } from '../../api/quotes/quote-schema.ts';
import { parseJson, stringifyJson } from '../../runtime/json.ts';
import type { ChaosChain } from './chaos-chain.ts';
import type { ReferenceRun, World } from './world.ts';

const LIMIT_MS = 60_000;
/** Longer than a block's snapshots are served. */
const PAUSE_MS = 1_600;
const POOLS_AT_ONCE = 40;
const SHOWN_CHARACTERS = 300;

/**
 * Compares the quotes of the honest pools, asked for among the attacker's, with those of a reference run that knows
 * the honest ones alone. What is not answered at once, as pools beyond the room of one block, is asked for again.
 *
 * @returns pools compared, and what differs
 */
export async function compareQuotes(
  { chains, processes: { apis } }: World,
  reference: ReferenceRun,
): Promise<{ readonly quotes: number; readonly violations: readonly string[] }> {
  const violations: string[] = [];
  let quotes = 0;
  for (const chain of chains) {
    const honest = chain.scenario.pools.map(({ address }) => address);
    const [disturbed] = apis;
    if (disturbed === undefined) throw new RangeError('no API');
    violations.push(...(await compareUntilEqual(chain, honest, disturbed.url, reference.api.url)));
    quotes += honest.length;
  }
  return { quotes, violations };
}

async function compareUntilEqual(
  chain: ChaosChain,
  honest: readonly Address[],
  disturbedUrl: string,
  referenceUrl: string,
): Promise<string[]> {
  const { chainId, name } = chain.plan;
  const hostile = (chain.attacker?.pools ?? []).map(({ address }) => address);
  let open = [...honest];
  for (const deadline = Date.now() + LIMIT_MS; ; await sleep(PAUSE_MS)) {
    const [found, expected] = await Promise.all([
      quotesOf(disturbedUrl, chainId, open, hostile),
      quotesOf(referenceUrl, chainId, open, []),
    ]);
    open = open.filter((pool) => found.get(pool) === undefined || found.get(pool) !== expected.get(pool));
    if (open.length === 0) return [];
    if (Date.now() > deadline) {
      const shown = (text: string | undefined) => text?.slice(0, SHOWN_CHARACTERS) ?? 'nothing';
      return open.map(
        (pool) => `quote of ${pool} of ${name}: ${shown(found.get(pool))}, not ${shown(expected.get(pool))}`,
      );
    }
    await chain.rest(1);
  }
}

/**
 * Quotes as text, without the time of the reading; without pools that got no quote. Each batch has untrusted pools too.
 */
async function quotesOf(
  url: string,
  chainId: number,
  pools: readonly Address[],
  untrusted: readonly Address[],
): Promise<Map<string, string>> {
  const quotes = new Map<string, string>();
  for (let start = 0; start < pools.length; start += POOLS_AT_ONCE) {
    const batch = pools.slice(start, start + POOLS_AT_ONCE);
    const response = await fetch(`${url}/public/v1/evm/${chainId}/bid_ask/batch`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ pools: [...untrusted.slice(-POOLS_AT_ONCE), ...batch] }),
    });
    const text = await response.text();
    if (!response.ok) continue;
    for (const result of BatchResponse.parse(parseJson(text)).results) {
      if (!('quote' in result)) continue;
      const { serverTs: _, ...quote } = result.quote;
      quotes.set(result.poolAddress.toLowerCase(), stringifyJson(quote));
    }
  }
  return quotes;
}
