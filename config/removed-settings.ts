/** Keys of the chains file that no longer do anything, by path without indexes, and what to use instead. */
const REMOVED_KEYS: ReadonlyMap<string, string> = new Map([
  ['chains.deployments.packed.deltaScale', 'nothing that is served depends on it'],
  ['routing', 'bounds of routes are fixed: docs/use/route.md'],
  ['quotes.readTimeoutMs', 'a read takes 8 s at most'],
  ['stream.connectionsPerKey', 'a key has up to 200 connections'],
  ['chains.pollMs', 'the chain is polled when blocks are due'],
  ['limits.keyTries', 'a client address may try 50 unknown keys in 10 s'],
  ['quotes.ethereumReadTimeoutMs', 'a read takes 3 s at most on chains of kind ethereum'],
  ['quotes.waitTimeoutMs', 'a request waits 5 s for a read that another started'],
  ['quotes.minRefreshMs', 'heads are taken half a second apart'],
  ['quotes.simulatedPoolsPerRead', 'a block has room for ten simulated pools'],
  ['quotes.cacheBins', 'snapshots of 100,000 bins are kept for each chain'],
  ['quotes.rememberedPools', 'how a curve became known is remembered for 10,000 pools of a chain'],
  ['stream.maxPoolsUnnamed', 'a connection with a key has up to 2,000 pools without naming them'],
  ['capture', 'scheduled work sets its pace itself: docs/run/operate.md'],
  ['chains.deployments.packed.simulation', 'each pool is asked in which form it simulates swaps'],
  ['limits.rememberedKeys', 'an API process remembers 10,000 keys'],
  ['limits.rememberedClients', 'an API process counts 50,000 clients'],
  ['fiatPrices.unknownPerRound', 'DefiLlama is asked for 400 unknown tokens in a run'],
  ['fiatPrices.unknownPauseSecs', 'DefiLlama is asked for an unknown token every 15 minutes'],
  ['fiatPrices.cacheSecs', 'answers of DefiLlama are used for two minutes'],
  ['fiatPrices.cachedTokens', 'answers of DefiLlama are kept for 100,000 tokens'],
  ['stream.poolsPerConnection', 'a connection names at most 500 pools'],
  ['stream.maxUnsentBytes', 'fixed at 256 KiB'],
  ['stream.maxUnsentSecs', 'fixed at 10 s'],
  ['stream.historyBlocks', 'connections resume after blocks that the process read, the last 256 of them'],
  ['stream.operationsPerSec', 'fixed at 10'],
  ['stream.newPoolsPerMinute', 'fixed at 1,000'],
  ['stream.keyCheckSecs', 'fixed at 60 s'],
  ['chains.readBudget.gasPerMinute', 'callsPerMinute bounds the gas too'],
  ['chains.readBudget.callsAtOnce', 'two calls of each kind are made at a time'],
  ['chains.readBudget.wantedPct', 'requested pools are read by the API'],
  ['chains.readBudget.othersPct', 'pools that are not funded have a tenth of callsPerMinute'],
  ['chains.readBudget.wantedPools', 'requested pools are read by the API'],
  ['chains.readBudget.wantedSecs', 'requested pools are read by the API'],
  ['chains.readBudget.burnGas', 'a read of more than 1.5 million gas burns it'],
  ['chains.readBudget.firstPauseSecs', 'a pool backs off for 10 s first'],
  ['chains.readBudget.failedPauseSecs', 'a pool that fails backs off for 40 s at most'],
  ['chains.readBudget.burnedPauseSecs', 'a pool that burns gas backs off for 15 minutes at most'],
  ['chains.readBudget.guardPauseSecs', 'guards are probed every 30 s'],
  ['chains.warmBudget.gasPerMinute', 'callsPerMinute bounds the gas too'],
  ['chains.warmBudget.wantedPct', 'pools that no key requests have a fifth of callsPerMinute'],
]);

/** Keys of the chains file that were renamed, by path without indexes. */
const RENAMED_KEYS: ReadonlyMap<string, string> = new Map([
  ['chains.readBudget.minWorthUsd', 'minFundedUsd'],
  ['history.depthPools', 'persistencePools'],
]);

/**
 * Leaves removed keys out of a chains file, renames others, and reports each as a process warning: files written for an
 * older release still load.
 *
 * @param value parsed JSON, not validated yet
 */
export function withoutRemovedKeys(value: unknown, path = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutRemovedKeys(item, path));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).flatMap(([key, item]) => {
    const at = path === '' ? key : `${path}.${key}`;
    const name = RENAMED_KEYS.get(at);
    const instead = REMOVED_KEYS.get(at);
    if (name !== undefined) warnOnce(`CHAINS_CONFIG: ${at} is now called ${name}`);
    if (instead !== undefined) warnOnce(`CHAINS_CONFIG: ${at} is no longer used: ${instead}`);
    return instead === undefined ? [[name ?? key, withoutRemovedKeys(item, at)]] : [];
  });
  return Object.fromEntries(kept);
}

const warned = new Set<string>();

/** Reports what is wrong with the settings as a process warning, each text once in the life of the process. */
export function warnOnce(text: string): void {
  if (!warned.has(text)) process.emitWarning(text, 'ConfigWarning');
  warned.add(text);
}
