/** Most characters of a search text, and of a stored term. */
export const MAX_SEARCH_LENGTH = 64;

/** Fields by which a pool is found. A search matches the beginning of a field. */
type Searched = {
  readonly pair: string;
  readonly poolAddress: string;
  readonly token0: string;
  readonly token1: string;
  readonly token0Symbol?: string | undefined;
  readonly token1Symbol?: string | undefined;
};

/** `read_model.shown_text()` replaces each of the `MARKS` by the `SHOWN` one. A search for either finds both. */
const SHOWN = '‹›＆”’‘‚；';
const MARKS = '<>&"\'`,;';

const withMarks = (text: string) => text.replaceAll(/[‹›＆”’‘‚；]/g, (shown) => MARKS[SHOWN.indexOf(shown)] ?? shown);

/** The search terms of a pool, in lowercase. No term is empty. */
export function searchTerms({ pair, poolAddress, token0, token1, ...symbols }: Searched): string[] {
  const swapped = `${symbols.token1Symbol ?? token1}/${symbols.token0Symbol ?? token0}`;
  return [pair, swapped, poolAddress, token0, token1].map((term) =>
    [...withMarks(term.toLowerCase())].slice(0, MAX_SEARCH_LENGTH).join(''),
  );
}

/**
 * SQL condition: the row has a search term that begins with the searched text.
 *
 * @param column of `operator.listed_pool`, whose index is on the same expression
 * @param parameter such as `$1`, bound to {@link searchQuery}
 */
export const isFound = (column: string, parameter: string): string =>
  `array_to_tsvector(${column}) @@ ${parameter}::tsquery`;

/** The tsquery for terms that begin with a text. The text is quoted, so that nothing in it counts as an operator. */
export const searchQuery = (text: string): string => `'${withMarks(text).replaceAll(/['\\]/g, '$&$&')}':*`;
