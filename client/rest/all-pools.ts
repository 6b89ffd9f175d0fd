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
const keyOf = ({ chain, poolAddress }: Pool): string => `${chain}:${poolAddress}`;

/** As {@link RestClient.allPools}. */
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
  for (let before = -1, pages = 2; pages > 1 && yielded.size > before; ) {
    before = yielded.size;
    pages = 0;
    for (let offset: number | null = 0; offset !== null; pages++) {
      const { data, nextOffset }: Page = await load(offset);
      for (const pool of data) {
        if (yielded.has(keyOf(pool))) continue;
        yielded.add(keyOf(pool));
        yield pool;
      }
      offset = nextOffset;
    }
  }
}
