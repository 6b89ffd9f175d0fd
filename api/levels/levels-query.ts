import type { Context } from 'hono';
import type { Address } from 'viem';
import type { Basis } from '../../quoting/quote-basis.ts';
import { badRequest } from '../errors.ts';
import { parseAddress } from '../hex.ts';
import { type ListingQuery, toListingQuery } from '../listing/query.ts';
import { basisParam, oneOf, parseQuery } from '../request.ts';
import { poolsParam } from '../sockets/pool-lists.ts';
import { MAX_LEVELS, RawLevelsQuery } from './declaration.ts';
import { FORMATS, type LevelsFormat } from './forms.ts';

/** Which pools a frame of price levels shows, and how. */
export interface LevelsQuery {
  readonly format: LevelsFormat;
  /** The venue of all pools; null: each pool is its own. */
  readonly venue: Address | null;
  /** In ascending order, so that a query has one spelling. Null: all listed pools. */
  readonly pools: readonly Address[] | null;
  /** Tiers and TVL of the pools; null: any. */
  readonly listed: ListingQuery | null;
  readonly basis: Basis;
  /** Most levels of a pair; absent: all. */
  readonly levels?: number;
  /** Set for what all see who choose nothing and have no key. */
  readonly isPublic?: true;
}

/** Pools above the default floor of the listing, those of most value first. */
const PUBLIC_LISTING = toListingQuery({ sortBy: 'tvl' }, ['tvl']);

/** The query of clients without a key who choose no pools. */
export const publicQuery = (format: LevelsFormat, basis: Basis): LevelsQuery => ({
  format,
  venue: null,
  pools: null,
  listed: PUBLIC_LISTING,
  basis,
  isPublic: true,
});

/** Reads the query string. A choice of other pools than named ones takes a key. @throws ApiError 400, 401 */
export function levelsQuery(c: Context): LevelsQuery {
  const basis = basisParam(c);
  const { format: named = 'builder', venue: text, tier, minTvlFiat, levels: most } = parseQuery(c, RawLevelsQuery);
  const format = oneOf(named, FORMATS, 'format');
  const venue = text === undefined ? null : parseAddress(text);
  if (text !== undefined && !venue) throw badRequest('venue is not a valid address');
  const listed = toListingQuery({ tier, minTvlFiat: minTvlFiat ?? 0 }, ['tiered']);
  const levels = most === undefined ? undefined : levelsParam(most);
  const isListed = listed.tiers !== null || listed.minTvlFiat !== null;
  const isChosen = c.get('key') || c.req.query('pools') !== undefined || venue || isListed || levels;
  if (!isChosen) return publicQuery(format, basis);
  const shape = { format, venue, ...(levels && { levels }) };
  return { ...shape, pools: poolsParam(c)?.sort() ?? null, listed: isListed ? listed : null, basis };
}

const levelsParam = (text: string): number => checkLevels(/^\d{1,3}$/.test(text) ? Number(text) : 0);

/** Gives what `levels` may be. @throws ApiError 400 */
export function checkLevels(levels: unknown): number {
  if (typeof levels === 'number' && Number.isInteger(levels) && levels >= 1 && levels <= MAX_LEVELS) return levels;
  throw badRequest(`levels must be an integer from 1 to ${MAX_LEVELS}`);
}
