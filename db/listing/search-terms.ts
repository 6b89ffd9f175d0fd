/** Longest text that is searched for, in characters; terms are kept no longer. */
export const MAX_SEARCH_LENGTH = 64;

/** What the search of a pool looks at: each is found by its beginning. */
type Searched = {
  readonly pair: string;
  readonly poolAddress: string;
  readonly token0: string;
  readonly token1: string;
  readonly token0Symbol?: string | undefined;
  readonly token1Symbol?: string | undefined;
};

/** What `read_model.shown_text()` makes of the marks of a token's text, and these marks: either finds the other. */
const SHOWN = '‹›＆”’‘‚；';
const MARKS = '<>&"\'`,;';

const withMarks = (text: string) => text.replaceAll(/[‹›＆”’‘‚；]/g, (shown) => MARKS[SHOWN.indexOf(shown)] ?? shown);

/** Lowercase, none of them empty. */
export function searchTerms({ pair, poolAddress, token0, token1, ...symbols }: Searched): string[] {
  const swapped = `${symbols.token1Symbol ?? token1}/${symbols.token0Symbol ?? token0}`;
  return [pair, swapped, poolAddress, token0, token1].map((term) =>
    [...withMarks(term.toLowerCase())].slice(0, MAX_SEARCH_LENGTH).join(''),
  );
}

/**
 * The SQL condition that a row of the terms' column has one that begins with a text.
 *
 * @param column of `operator.listed_pool`, whose index is on the same expression
 * @param parameter such as `$1`, bound to {@link searchQuery}
 */
export const isFound = (column: string, parameter: string): string =>
  `array_to_tsvector(${column}) @@ ${parameter}::tsquery`;

/** The text as a quoted beginning of a word: nothing in it is read as an operator. */
export const searchQuery = (text: string): string => `'${withMarks(text).replaceAll(/['\\]/g, '$&$&')}':*`;
