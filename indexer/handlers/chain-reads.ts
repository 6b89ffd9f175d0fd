import { type Address, encodeFunctionData, erc20Abi, type Hex, hexToBigInt, multicall3Abi, size } from 'viem';
import { providerFunctions } from '../../protocol/abi/providers.ts';
import { CALLER, decodeBoundedCalls, encodeBoundedCalls } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { EventLayout } from '../../protocol/layout.ts';
import { type TokenScale, tokenScale } from '../../protocol/scaling.ts';
import { decodeTokenDecimals, decodeTokenText, TOKEN_ANSWER_BYTES } from '../reducers/token-fields.ts';
import type { HandlerContext } from './context.ts';

const CONFIDENCE_CALL = encodeFunctionData({ abi: providerFunctions, functionName: 'confidenceParam' });
const WORD = 32;
const TOKEN_CALLS = (['symbol', 'name', 'decimals'] as const).map((functionName) =>
  encodeFunctionData({ abi: erc20Abi, functionName }),
);

/** What one call of a token may take: proxies of ordinary tokens take a tenth of the gas. */
const TOKEN_CALL = { likelyGas: 50_000, gasLimit: 500_000, keptBytes: TOKEN_ANSWER_BYTES };
/** More than all calls of two tokens may take together. */
const TOKENS_GAS = 8_000_000n;

/** How a token describes itself. */
export interface TokenFields {
  readonly symbol: string | null;
  readonly name: string | null;
  readonly decimals: number | null;
}

/**
 * What the chain, but no event, says of a new pool: its scale multipliers, and how tokens that are new to the index
 * describe themselves. Two calls at once: pools are known contracts, tokens may be anyone's.
 */
export async function readPoolFacts(
  context: HandlerContext,
  multicall3: Address,
  { pool, layout }: { readonly pool: Address; readonly layout: EventLayout },
  newTokens: readonly Address[],
): Promise<{ scale: TokenScale | null; tokens: TokenFields[] }> {
  const [[scale], tokens] = await Promise.all([
    answersOf(context, multicall3, [{ target: pool, callData: layout.scaleCall }]),
    readTokens(context, newTokens),
  ]);
  return { scale: scale && scale !== '0x' ? layout.decodeScale(scale) : null, tokens };
}

/** Each call has a gas limit and an answer of its own, whatever the others do: see `BoundedCalls.sol`. */
async function readTokens({ client }: HandlerContext, tokens: readonly Address[]): Promise<TokenFields[]> {
  if (tokens.length === 0) return [];
  const calls = tokens.flatMap((target) => TOKEN_CALLS.map((data) => ({ target, data, ...TOKEN_CALL })));
  const { data } = await client.call({
    account: CALLER,
    data: encodeBoundedCalls(calls),
    gas: TOKENS_GAS,
    cache: 'immutable',
  });
  const { results } = decodeBoundedCalls(data ?? '0x', calls.length);
  const answers = results.map((result) => (result?.success ? result.data : null));
  return tokens.map((_, index) => decodeToken(answers.slice(index * TOKEN_CALLS.length)));
}

/** A provider's confidence parameter, which it may have from the start, without an event. Null when it has none. */
export async function readConfidenceParam(
  context: HandlerContext,
  multicall3: Address,
  provider: Address,
): Promise<bigint | null> {
  const [answer] = await answersOf(context, multicall3, [{ target: provider, callData: CONFIDENCE_CALL }]);
  return answer && size(answer) === WORD ? hexToBigInt(answer) : null;
}

/**
 * Answers in the order of the calls; null for one that failed. They are of the chain's head, so that no archive node is
 * needed: what is read here never changes, or changes with an event that comes later.
 */
async function answersOf(
  { client }: HandlerContext,
  multicall3: Address,
  calls: readonly { readonly target: Address; readonly callData: Hex }[],
): Promise<(Hex | null)[]> {
  const results = await client.readContract({
    address: multicall3,
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [calls.map((call) => ({ ...call, allowFailure: true }))],
    cache: 'immutable',
  });
  return results.map(({ success, returnData }) => (success ? returnData : null));
}

function decodeToken([symbol, name, decimals]: readonly (Hex | null)[]): TokenFields {
  return {
    symbol: decodeTokenText(symbol ?? null),
    name: decodeTokenText(name ?? null),
    decimals: decodeTokenDecimals(decimals ?? null),
  };
}

/**
 * The scale of a pool that no longer answers at the chain's head, as after a reorg which took it away.
 *
 * @throws RangeError when the decimals are not known: they are never guessed
 */
export function scaleFromDecimals(pool: Address, decimals0: number | null, decimals1: number | null): TokenScale {
  if (decimals0 === null || decimals1 === null) {
    throw new RangeError(`pool ${pool} does not answer getImmutables and a token of it no decimals`);
  }
  return tokenScale(decimals0, decimals1);
}
