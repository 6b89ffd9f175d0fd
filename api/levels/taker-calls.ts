import type { Context } from 'hono';
import type { Address } from 'viem';
import { z } from 'zod';
import type { Clock } from '../../runtime/clock.ts';
import { ReadyJson } from '../../runtime/joined-json.ts';
import { ApiError, badRequest, keyOrPoolsMissing, toApiError, tooManyRequests } from '../errors.ts';
import { parseAddress } from '../hex.ts';
import { namedPools } from '../request.ts';
import { MAX_NAMED_POOLS } from '../sockets/pool-lists.ts';
import { windowLimit } from '../sockets/window-limit.ts';
import type { LevelsFormat } from './forms.ts';
import { type AnswerCall, LaterAnswer } from './json-rpc.ts';
import { checkLevels, type LevelsQuery, publicQuery } from './levels-query.ts';
import { OneState } from './one-state.ts';
import type { OverrideFrames } from './override-frames.ts';
import type { PriceLevels } from './price-levels.ts';
import type { StatusResult } from './status-schema.ts';
import type { TakerOrder, TakerQuotes } from './taker-quotes.ts';
import { takerStatus } from './taker-status.ts';
import type { LevelsChain } from './write-levels.ts';

/** What takers call on a chain. */
export interface TakersChain {
  readonly chain: LevelsChain;
  readonly levels: PriceLevels;
  readonly overrides: OverrideFrames;
  readonly quotes: TakerQuotes;
  readonly now: Clock;
}

export type TakersDeps = { readonly takers: ReadonlyMap<number, TakersChain> };

/** Who calls. */
export interface TakerClient {
  readonly hasKey: boolean;
  /** Counts a call that reads pools as a batch of quotes. @throws ApiError 429 */
  readonly countRead: () => Promise<void>;
}

/** @param counted how many calls that read pools the request itself has counted */
export function takerClient(c: Context, counted: 0 | 1): TakerClient {
  const countMore = c.get('countMore');
  let reads = 0;
  const countRead = async () => {
    reads += 1;
    if (reads > counted) await countMore?.();
  };
  return { hasKey: c.get('key') !== null, countRead };
}

/** Addresses that a parameter names; by default none, which means all. As in all of these, null is as none. */
const Names = z
  .array(z.string())
  .max(MAX_NAMED_POOLS)
  .nullish()
  .transform((names) => names ?? []);

const NoParams = z.tuple([]);
const Order = z.tuple([z.string(), z.string(), z.string()]);
const VenueOrder = z.tuple([z.string(), z.string(), z.string(), z.string()]);
type OrderNames = readonly [venue: string | null, tokenIn: string, tokenOut: string, amountIn: string];
/** Which pools, and how many levels of each pair; by default all. */
export const LevelsOf = z
  .looseObject({ pamms: Names, levels: z.unknown().optional() })
  .nullable()
  .transform((named) => named ?? { pamms: [] });
/** Of which venues; by default all. */
export const OverridesOf = z
  .looseObject({ routers: Names })
  .nullable()
  .transform((named) => named ?? { routers: [] });
const Pamms = z.union([z.tuple([LevelsOf]), NoParams]);

/** The calls of a batch or of a connection: `pamm_…` in the forms of BAP-710, `titan_…` in those of builders. */
export class TakerCalls {
  readonly chain: TakersChain;
  readonly client: TakerClient;
  /** Counts price levels and state overrides, whose answers may be large: two a second. */
  readonly #useAnswer: ReturnType<typeof windowLimit>;
  /** Counts quotes, which may read many pools: ten a second. */
  readonly #useQuote: ReturnType<typeof windowLimit>;

  constructor(chain: TakersChain, client: TakerClient) {
    this.chain = chain;
    this.client = client;
    this.#useAnswer = windowLimit(2, 1, chain.now);
    this.#useQuote = windowLimit(10, 1, chain.now);
  }

  /** Answers the calls of one message: what they show of the chain is of one state. */
  answers(): AnswerCall {
    const state = new OneState(this.chain.chain, 'live');
    return (method, params) => this.#answer(state, method, params);
  }

  /** @throws ApiError 404 when there is no such method */
  async #answer(state: OneState, method: string, params: unknown): Promise<unknown> {
    const { levels, overrides } = this.chain;
    const { hasKey, countRead } = this.client;
    const format = method.startsWith('titan_') ? 'builder' : 'bap710';
    switch (method) {
      case 'pamm_getPammStateOverrides':
      case 'titan_getPammStateOverrides': {
        readParams(NoParams, params);
        this.#countAnswer();
        const read = state.add(overrides.at(format === 'builder' ? 'builderAnswer' : 'bap710'));
        return new LaterAnswer(async () => new ReadyJson(await read()));
      }
      case 'pamm_getPammPriceLevels':
      case 'titan_getPammPriceLevels': {
        const [named = { pamms: [] }] = readParams(Pamms, params);
        const query = levelsOf(format, named, hasKey);
        this.#countAnswer();
        if (query.isPublic)
          return new LaterAnswer(async () => new ReadyJson(String((await levels.readPublic(query)).body.content)));
        await countRead();
        const read = state.add(await levels.prepare(query, hasKey));
        return new LaterAnswer(async () => new ReadyJson((await read()).json));
      }
      case 'titan_getPammQuote':
        return this.#quote(state, [null, ...readParams(Order, params)]);
      case 'titan_getPammQuoteVenue':
        return this.#quote(state, readParams(VenueOrder, params));
      case 'pamm_status':
        readParams(NoParams, params);
        return new LaterAnswer(this.#status(state));
      case 'pamm_subscribe':
      case 'pamm_unsubscribe':
        throw new ApiError(404, { error: `${method} needs a WebSocket` });
      default:
        throw new ApiError(404, { error: `${method.slice(0, 64)} is not served: only calls of takers are` });
    }
  }

  async #quote(state: OneState, named: OrderNames): Promise<LaterAnswer> {
    const order = orderOf(named);
    const waitMs = this.#useQuote(1);
    if (waitMs > 0) throw tooManyRequests(waitMs);
    await this.client.countRead();
    const read = state.add(await this.chain.quotes.prepare(order, this.client.hasKey));
    return new LaterAnswer(async () => new ReadyJson(await read()));
  }

  /** A head that is late is no failure of a status. */
  #status(state: OneState): () => Promise<StatusResult> {
    const { chain, levels, overrides } = this.chain;
    const counts = { levels: levels.readers, overrides: overrides.readers };
    const read = state.add(async ({ head }) => takerStatus(chain, head.block, counts));
    return () =>
      read().catch((error: unknown) => {
        if (!toApiError(error).retryable) throw error;
        return takerStatus(chain, null, counts);
      });
  }

  /** @throws ApiError 429 */
  #countAnswer(): void {
    const waitMs = this.#useAnswer(1);
    if (waitMs > 0) throw tooManyRequests(waitMs);
  }
}

/** @throws ApiError 400 */
export function readParams<S extends z.ZodType>(schema: S, params: unknown): z.output<S> {
  const read = schema.safeParse(params);
  if (!read.success) throw badRequest('the parameters are not those of the method');
  return read.data;
}

/** Reads an order. @throws ApiError 400 that names the parameter and its rule */
function orderOf([venueText, tokenInText, tokenOutText, amountText]: OrderNames): TakerOrder {
  const venue = venueText === null ? null : addressOf(venueText, 'venue');
  const [tokenIn, tokenOut] = [addressOf(tokenInText, 'tokenIn'), addressOf(tokenOutText, 'tokenOut')];
  if (tokenIn === tokenOut) throw badRequest('tokenIn and tokenOut must be different tokens');
  if (!/^0x[0-9a-f]{1,64}$/i.test(amountText) || BigInt(amountText) === 0n)
    throw badRequest('amountIn must be 0x-prefixed hex of up to 32 bytes, above 0');
  return { tokenIn, tokenOut, venue, amountIn: BigInt(amountText) };
}

function addressOf(text: string, name: string): Address {
  const address = parseAddress(text);
  if (!address) throw badRequest(`${name} must be a 0x-prefixed 20-byte address`);
  return address;
}

/** Reads addresses, and gives them in ascending order. @throws ApiError 400 */
export const addresses = (names: readonly string[]): Address[] =>
  names.length === 0 ? [] : [...namedPools(names).keys()].sort();

/** The query of a taker who names pools, or none for all that the taker may see. @throws ApiError 400, 401 */
export function levelsOf(format: LevelsFormat, named: z.output<typeof LevelsOf>, hasKey: boolean): LevelsQuery {
  const pools = addresses(named.pamms);
  const most = named.levels ?? undefined;
  const levels = most === undefined ? undefined : checkLevels(most);
  const isAnyone = pools.length === 0 && !hasKey;
  if (isAnyone && levels) throw keyOrPoolsMissing();
  if (isAnyone) return publicQuery(format, 'live');
  const shape = { format, venue: null, ...(levels && { levels }) };
  return { ...shape, pools: pools.length > 0 ? pools : null, listed: null, basis: 'live' };
}
