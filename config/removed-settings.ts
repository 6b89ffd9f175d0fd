/** Keys of the chains file that no longer do anything, by path without indexes, and what to use instead. */
const REMOVED_KEYS: ReadonlyMap<string, string> = new Map([
  ['routing.minLegFractionE6', 'a route of a split has at least 2% of the order'],
  ['routing.maxPoolsPerPair', 'a quarter of routing.maxPoolsPerRequest'],
  ['routing.maxTokensSearched', 'all intermediate tokens are searched'],
  ['routing.rememberedPools', 'the depth of 5,000 pools of a chain is kept'],
]);

/** Environment variables that no longer do anything, and what to use instead. */
const REMOVED_VARIABLES: ReadonlyMap<string, string> = new Map([]);

/**
 * A chains file without removed keys, each of which is reported as a process warning: files written for an older release
 * go on loading.
 *
 * @param value parsed JSON, not validated yet
 */
export function withoutRemovedKeys(value: unknown, removed = REMOVED_KEYS, path = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutRemovedKeys(item, removed, path));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).flatMap(([key, item]) => {
    const at = path === '' ? key : `${path}.${key}`;
    const instead = removed.get(at);
    if (instead === undefined) return [[key, withoutRemovedKeys(item, removed, at)]];
    warn(`CHAINS_CONFIG: ${at} is no longer used: ${instead}`);
    return [];
  });
  return Object.fromEntries(kept);
}

/** Reports removed environment variables that are still set. */
export function warnOfRemovedVariables(
  env: Readonly<Record<string, string | undefined>>,
  removed = REMOVED_VARIABLES,
): void {
  for (const [name, instead] of removed) if (env[name]) warn(`${name} is no longer used: ${instead}`);
}

function warn(text: string): void {
  process.emitWarning(text, 'ConfigWarning');
}
