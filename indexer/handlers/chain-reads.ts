import { type Address, encodeFunctionData, erc20Abi, type Hex, hexToBigInt, multicall3Abi, size } from 'viem';
import { providerFunctions } from '../../protocol/abi/providers.ts';
import { CALLER, decodeBoundedCalls, encodeBoundedCalls } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { EventLayout } from '../../protocol/layout.ts';
import type { TokenScale } from '../../protocol/scaling.ts';
import { multicallOf } from '../chains.ts';
import { decodeTokenDecimals, decodeTokenText, TOKEN_ANSWER_BYTES } from '../reducers/token-fields.ts';
import type { token } from '../schema/pools.ts';
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
type TokenFields = Pick<typeof token.$inferSelect, 'symbol' | 'name' | 'decimals'>;

/**
 * What the chain, but no event, says of a new pool: its scale multipliers, null when it does not answer, and how tokens
 * that are new to the index describe themselves. Two calls at once: pools are known contracts, tokens may be anyone's.
 */
export async function readPoolFacts(
  context: HandlerContext,
  pool: Address,
  layout: EventLayout,
  newTokens: readonly Address[],
): Promise<{ scale: TokenScale | null; tokens: TokenFields[] }> {
  const [scale, tokens] = await Promise.all([
    answerOf(context, pool, layout.scaleCall),
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
  return tokens.map((_, index) => {
    const [symbol = null, name = null, decimals = null] = answers.slice(index * TOKEN_CALLS.length);
    return { symbol: decodeTokenText(symbol), name: decodeTokenText(name), decimals: decodeTokenDecimals(decimals) };
  });
}

/** A provider's confidence parameter, which it may have from the start, without an event. Null when it has none. */
export async function readConfidenceParam(context: HandlerContext, provider: Address): Promise<bigint | null> {
  const answer = await answerOf(context, provider, CONFIDENCE_CALL);
  return answer && size(answer) === WORD ? hexToBigInt(answer) : null;
}

/**
 * The answer to a call; null when it failed. It is of the chain's head, so that no archive node is needed: what is read
 * here never changes, or changes with an event that comes later.
 */
async function answerOf({ client, chain }: HandlerContext, target: Address, callData: Hex): Promise<Hex | null> {
  const [result] = await client.readContract({
    address: multicallOf(chain.id),
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [[{ target, callData, allowFailure: true }]],
    cache: 'immutable',
  });
  return result?.success ? result.returnData : null;
}
