import { numberToHex, zeroHash } from 'viem';
import { CANARY, CLOCK, clockAt } from './override-checks.ts';
import { blockOverrides, type StateOverrides } from './pending-state.ts';
import type { RpcEndpoint } from './rpc-endpoint.ts';
import { refusesRequest } from './rpc-failure.ts';
import { readWrites, type TracedCall, traceParams } from './trace-call.ts';

/** A block and a time that no chain has. */
const FAR_BLOCK = { blockNumber: 2n ** 40n, timestamp: 2n ** 40n } as const;
const ONE = numberToHex(1, { size: 32 });
/** Creation code that stores the block's time in the first slot of its account. */
const TRACED: TracedCall = {
  from: '0x000000000000000000000000000000000000c10c',
  data: '0x4260005500',
  value: 0n,
  gas: 200_000n,
};

interface Probe {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Whether the result is that of a node with the ability. */
  readonly shows: (result: unknown) => boolean;
}

const callWith = ({ target, code }: typeof CANARY | typeof CLOCK, stateDiff = {}) => [
  { to: target, data: '0x', gas: numberToHex(100_000) },
  'latest',
  { [target]: { code, stateDiff } },
];
const hasTimeOf = (writes: StateOverrides) =>
  writes.values().some((slots) => slots.get(zeroHash) === numberToHex(FAR_BLOCK.timestamp, { size: 32 }));

/** Abilities that a call of its own can show. */
export type ProbedAbility = 'stateOverrides' | 'blockOverrides' | 'traces';

const PROBES: Readonly<Record<ProbedAbility, Probe>> = {
  stateOverrides: { method: 'eth_call', params: callWith(CANARY), shows: (result) => result === CANARY.answer },
  blockOverrides: {
    method: 'eth_call',
    params: [...callWith(CLOCK, { [zeroHash]: ONE }), blockOverrides(FAR_BLOCK)],
    shows: (result) => result === numberToHex(clockAt(FAR_BLOCK), { size: 32 }),
  },
  traces: {
    method: 'debug_traceCall',
    params: traceParams(TRACED, { hash: 'latest', target: FAR_BLOCK }),
    shows: (result) => hasTimeOf(readWrites(result, TRACED)),
  },
};

/**
 * Whether a node has an ability: as is known, or else by a call at the head, whose outcome is noted.
 *
 * @throws RpcFailure when it is unknown: the node gave no answer
 */
export async function nodeHas(endpoint: RpcEndpoint, ability: ProbedAbility): Promise<boolean> {
  const known = endpoint.has(ability);
  if (typeof known === 'boolean') return known;
  const { method, params, shows } = PROBES[ability];
  endpoint.learn({ ability }, null);
  const has = await endpoint.request(method, params).then(shows, (error) => {
    if (refusesRequest(error)) return false;
    throw error;
  });
  endpoint.learn({ ability }, has);
  return has;
}

/**
 * Whether a node of a chain has an ability.
 *
 * @throws RpcFailure when it is unknown: none showed that it has it, and some gave no answer
 */
export async function anyNodeHas(endpoints: readonly RpcEndpoint[], ability: ProbedAbility): Promise<boolean> {
  let unknown: unknown;
  for (const endpoint of endpoints) {
    try {
      if (await nodeHas(endpoint, ability)) return true;
    } catch (error) {
      unknown = error;
    }
  }
  if (unknown) throw unknown;
  return false;
}
