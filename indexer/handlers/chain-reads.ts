import { type Address, encodeFunctionData, erc20Abi, type Hex, hexToBigInt, multicall3Abi, size } from 'viem';
import { providerFunctions } from '../../protocol/abi/providers.ts';
import { CALLER, decodeBoundedCalls, encodeBoundedCalls } from '../../protocol/bounded-calls/bounded-calls.ts';
import { decodeScale, scaleCall } from '../../protocol/layouts/immutables.ts';
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

/** Limits of one call of a token. Ordinary tokens behind proxies use a tenth of the gas limit. */
const TOKEN_CALL = { likelyGas: 50_000, gasLimit: 500_000, keptBytes: TOKEN_ANSWER_BYTES };
/** Gas limit of the whole read: more than all calls of two tokens may use together. */
const TOKENS_GAS = 8_000_000n;

/** How a token describes itself. */
type TokenFields = Pick<typeof token.$inferSelect, 'symbol' | 'name' | 'decimals'>;

/** Reads the scale multipliers of a new pool, which no event reports; null when it does not return them. */
export async function readScale(context: HandlerContext, pool: Address): Promise<TokenScale | null> {
  const scale = await answerOf(context, pool, scaleCall);
  return scale && scale !== '0x' ? decodeScale(scale) : null;
}

/**
 * Reads how tokens, which are untrusted contracts, describe themselves, in one call. Each inner call has its own gas
 * limit and result, independent of the others.
 */
export async function readTokens({ client }: HandlerContext, tokens: readonly Address[]): Promise<TokenFields[]> {
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

/** Reads the confidence parameter of a provider; null when it has none. Deployment may set it without an event. */
export async function readConfidenceParam(context: HandlerContext, provider: Address): Promise<bigint | null> {
  const answer = await answerOf(context, provider, CONFIDENCE_CALL);
  return answer && size(answer) === WORD ? hexToBigInt(answer) : null;
}

/**
 * Calls a contract; null when the call fails. It reads at the head of the chain, so that no archive node is needed.
 * That is safe, because the values read here never change, or change with an event that is indexed later.
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
