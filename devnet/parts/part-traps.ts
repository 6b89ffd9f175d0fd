import { numberToHex } from 'viem';
import type { Misbehaviour, ProxiedRequest } from '../misbehaviour.ts';
import type { Part } from './part.ts';

type Overrides = Readonly<Record<string, object>>;
type Rewrite = (request: ProxiedRequest) => ProxiedRequest | { readonly answer: object };

/** Ways in which nodes that follow parts were seen to fail. Each concerns requests at the tag `pending` alone. */
export type PartTrap =
  /** Calls run on a block this far behind the head; the block that the tag names is right. */
  | { readonly kind: 'callsBehind'; readonly blocks: bigint }
  /** All that is pending is a block this far behind the head; 0: the node does not follow parts. */
  | { readonly kind: 'allBehind'; readonly blocks: bigint }
  /** Calls run in the block of the part, on the state of a block this far behind the head; 0: of the head. */
  | { readonly kind: 'oldState'; readonly blocks: bigint }
  /** Calls see other storage than the part has. */
  | { readonly kind: 'divergent'; readonly overrides: Overrides }
  /** Calls run on the state of the part, with number and time of the head. */
  | { readonly kind: 'otherContext' }
  /** There is no pending block. */
  | { readonly kind: 'null' }
  /** Every second call falls into another trap, as one of two nodes behind one URL. Default: `oldState` of the head. */
  | { readonly kind: 'halves'; readonly of?: PartTrap }
  /** The parent of the pending block is another one than the head. */
  | { readonly kind: 'otherParent' };

/** What is pending now. */
export interface PendingNow {
  readonly part: Part;
  /** Time of the head, Unix seconds. */
  readonly headSecs: bigint;
}

const OTHER_PARENT = 'ab'.repeat(32);

const isPending = ({ params }: ProxiedRequest): boolean => params.includes('pending');
const isCall = ({ method }: ProxiedRequest): boolean => method === 'eth_call';

/** Makes a node fall into these traps, all at once. */
export function trapped(traps: readonly PartTrap[], now: () => PendingNow): Misbehaviour {
  let calls = 0;
  const rewriteOf = (trap: PartTrap): Rewrite => {
    switch (trap.kind) {
      case 'callsBehind':
        return (request) => (isCall(request) ? atBlock(request, below(now(), trap.blocks)) : request);
      case 'allBehind':
        return (request) => atBlock(request, below(now(), trap.blocks));
      case 'oldState':
        return (request) =>
          isCall(request) ? inBlock(atBlock(request, below(now(), trap.blocks)), now().part) : request;
      case 'divergent':
        return (request) => (isCall(request) ? withOverrides(request, trap.overrides) : request);
      case 'otherContext':
        return (request) => (isCall(request) ? inBlock(request, headOf(now())) : request);
      case 'null':
        return (request) =>
          isCall(request)
            ? { answer: { error: { code: -32_000, message: 'block not found' } } }
            : { answer: { result: null } };
      case 'halves': {
        const rewrite = rewriteOf(trap.of ?? { kind: 'oldState', blocks: 0n });
        return (request) => {
          if (!isCall(request)) return request;
          calls += 1;
          return calls % 2 === 0 ? request : rewrite(request);
        };
      }
      case 'otherParent':
        return (request) => request;
    }
  };
  const rewrites = traps.map(rewriteOf);
  const isOther = traps.some(({ kind }) => kind === 'otherParent');
  return {
    kind: 'rewritten',
    request: (request) =>
      rewrites.reduce<ReturnType<Rewrite>>(
        (rewritten, rewrite) => ('answer' in rewritten || !isPending(rewritten) ? rewritten : rewrite(rewritten)),
        request,
      ),
    text: (text) => (isOther ? text.replaceAll(now().part.parentHash.slice(2), OTHER_PARENT) : text),
  };
}

const headOf = ({ part, headSecs }: PendingNow): Pick<Part, 'number' | 'timeSecs'> => ({
  number: part.number - 1n,
  timeSecs: headSecs,
});

const below = ({ part }: PendingNow, blocks: bigint): string => {
  const number = part.number - 1n - blocks;
  return numberToHex(number > 0n ? number : 0n);
};

function atBlock(request: ProxiedRequest, block: string): ProxiedRequest {
  return { ...request, params: request.params.map((param) => (param === 'pending' ? block : param)) };
}

/** The call with another block context. */
function inBlock(request: ProxiedRequest, { number, timeSecs }: Pick<Part, 'number' | 'timeSecs'>): ProxiedRequest {
  const [call, block, overrides = {}] = request.params;
  const context = { number: numberToHex(number), time: numberToHex(timeSecs) };
  return { ...request, params: [call, block, overrides, context] };
}

/** The call with further overrides of state. */
function withOverrides(request: ProxiedRequest, overrides: Overrides): ProxiedRequest {
  const [call, block, before, ...others] = request.params;
  const merged = { ...overrides } as Record<string, object>;
  for (const [account, override] of Object.entries((before ?? {}) as Overrides))
    merged[account] = { ...merged[account], ...override };
  return { ...request, params: [call, block, merged, ...others] };
}
