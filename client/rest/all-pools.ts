import type { Operations } from './calls.ts';
import type { CallOptions, RequestOf, ResponseOf } from './types.ts';

type Page = ResponseOf<'listPools'>;
type Pool = Page['data'][number];
type Paged = 'count' | 'offset';

/** Which pools to walk: those of one chain, or of several. */
export type AllPoolsRequest =
  | Omit<RequestOf<'listPools'>, Paged>
  | (Omit<RequestOf<'listPoolsAcrossChains'>, Paged> & { readonly chainId?: undefined });

export type AllPools = (request?: AllPoolsRequest, options?: CallOptions) => AsyncGenerator<Pool, void, void>;

const PAGE = 500;
/** After this many walks in a row without a new pool, the walk ends, even if pools of the listing keep moving. */
const MAX_QUIET_WALKS = 2;
const keyOf = ({ chain, poolAddress }: Pool): string => `${chain}:${poolAddress}`;

/** Walks a listing, see {@link RestClient.allPools}. */
export async function* allPools(
  operations: Pick<Operations, 'listPools' | 'listPoolsAcrossChains'>,
  request: AllPoolsRequest = {},
  options: CallOptions = {},
): AsyncGenerator<Pool, void, void> {
  const yielded = new Set<string>();
  const load = (offset: number): Promise<Page> => {
    const page = { ...request, count: PAGE, offset };
    return page.chainId === undefined
      ? operations.listPoolsAcrossChains(page, options)
      : operations.listPools(page as RequestOf<'listPools'>, options);
  };
  let total = Number.POSITIVE_INFINITY;
  for (let quiet = 0; quiet < MAX_QUIET_WALKS; ) {
    const [before, totalBefore] = [new Set(yielded), total];
    const again = new Set<string>();
    let pages = 0;
    for (let offset: number | null = 0; offset !== null; pages++) {
      const page: Page = await load(offset);
      for (const pool of page.data) {
        const key = keyOf(pool);
        if (before.has(key)) again.add(key);
        if (yielded.has(key)) continue;
        yielded.add(key);
        yield pool;
      }
      [offset, total] = [page.nextOffset, page.total];
    }
    // A pool that two walks showed was listed when the first of them ended. When as many pools were shown twice as were
    // listed then, no pool is missing.
    if (pages < 2 || again.size >= totalBefore) return;
    quiet = yielded.size > before.size ? 0 : quiet + 1;
  }
}
