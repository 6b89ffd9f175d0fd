import { type Address, type Hex, numberToHex } from 'viem';
import type { BoundedCall, CallResult } from '../protocol/bounded-calls/bounded-calls.ts';
import { checkView, viewCalls } from './part-view.ts';
import type { PendingPart, PendingState, TargetBlock } from './pending-state.ts';
import type { CallContext, CodeOverrides } from './read-context.ts';
import { MissingAbility } from './rpc-failure.ts';

/** Code that returns 42, put at an address without code: an answer of 42 proves that the node applied the overrides. */
export const CANARY = {
  target: '0xca0a21ca0a21ca0a21ca0a21ca0a21ca0a21ca0a',
  code: '0x602a5f5260205ff3',
  answer: numberToHex(42, { size: 32 }),
} as const;
/** Code that returns time and number of the block, put at an address without code for calls at a block being built. */
export const CLOCK = {
  target: '0xc10cc10cc10cc10cc10cc10cc10cc10cc10cc10c',
  code: '0x434260401b175f5260205ff3',
} as const;
/** The call of a check, as a call to an untrusted contract and as one to a known contract. */
const CALL = { data: '0x', gas: 5_000, likelyGas: 5_000, gasLimit: 5_000, keptBytes: 32 } as const;

/** What a node lacks that puts no code at addresses: by the kind of call that shows it. */
type CodeAbility = 'stateOverrides' | 'programOverrides';

/** What is to be sent so that the answer shows whether a node applied overrides. */
export interface OverrideChecks<C extends CallContext> {
  /** The context with the code that the calls need. */
  readonly context: C;
  /** Calls to put before the others. */
  readonly calls: readonly (BoundedCall & { readonly gas: number })[];
  /**
   * Takes the results of these calls, and the host of the node.
   *
   * @throws MissingAbility when the node did not apply the overrides; OtherPart when they ran on another part
   */
  readonly check: (results: readonly (CallResult | null)[], node: string) => void;
}

/**
 * The checks of a context: at a block that is being built, that calls run there; with other code, that it is in place.
 */
export function overrideChecks<C extends CallContext>(context: C, ability: CodeAbility): OverrideChecks<C> {
  const { block, code } = context;
  const pending = typeof block === 'string' ? undefined : block.pending;
  if (pending?.part) return partChecks(context, pending.part, ability);
  if (pending) return checksBy(context, CLOCK, ([result]) => checkClock(pending, ability, result));
  if (code?.size) return checksBy(context, CANARY, ([result]) => checkCanary(ability, result));
  return { context, calls: [], check: () => undefined };
}

const checksBy = <C extends CallContext>(
  context: C,
  { target, code }: { readonly target: Address; readonly code: Hex },
  check: OverrideChecks<C>['check'],
): OverrideChecks<C> => {
  const withCode: CodeOverrides = new Map([...(context.code ?? []), [target, code]]);
  return { context: { ...context, code: withCode }, calls: [{ ...CALL, target }], check };
};

/** Calls at the tag `pending` must show the part, whether they have other code or not. */
function partChecks<C extends CallContext>(context: C, part: PendingPart, ability: CodeAbility): OverrideChecks<C> {
  const { block: _, ...rest } = context;
  const code = overrideChecks({ ...rest, block: 'pending' }, ability);
  const shown = viewCalls(part.multicall3);
  return {
    context: { ...context, ...(code.context.code && { code: code.context.code }) },
    calls: [...shown, ...code.calls],
    check(results, node) {
      checkView(part, results, node);
      code.check(results.slice(shown.length), node);
    },
  };
}

/** @throws MissingAbility when the node put no code at addresses */
function checkCanary(ability: CodeAbility, canary: CallResult | null | undefined): void {
  if (canary?.data === CANARY.answer) return;
  throw new MissingAbility(ability, 'a node ignores overrides of code');
}

/** @throws MissingAbility when the call did not run in the block that is being built */
function checkClock(target: PendingState, ability: CodeAbility, clock: CallResult | null | undefined): void {
  if (clock?.data === numberToHex(clockAt(target), { size: 32 })) return;
  const isCode = clock?.data?.length === CANARY.answer.length;
  throw new MissingAbility(isCode ? 'blockOverrides' : ability, 'a node ignores the overrides of state or block');
}

/** What the clock returns in a block. */
export const clockAt = ({ timestamp, blockNumber }: TargetBlock): bigint => (timestamp << 64n) | blockNumber;
