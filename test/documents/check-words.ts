import { type Check, expectMany } from './project.ts';

const LIST = 'docs/style.md';
/** They are not ours to reword, or ran already. */
const LEFT_OUT = /^(migrations|patches)\/|^package-lock\.json$|^devnet\/compiled-contracts\.json$|\.(png|svg)$/;

/** Words that docs/style.md rejects are used nowhere. */
export const checkWords: Check = ({ files, textOf }) => {
  const [, list = ''] = textOf(LIST).split('## Words that a check rejects');
  const patterns = [...list.matchAll(/^- `(.+?)`: /gm)].map(([, text = '']) => text);
  const missing = expectMany(LIST, patterns, 15);
  if (missing.length > 0) return missing;
  const rejected = new RegExp(patterns.join('|'), 'gi');
  return files
    .filter((path) => path !== LIST && !LEFT_OUT.test(path))
    .flatMap((path) =>
      textOf(path)
        .split('\n')
        .flatMap((line, index) => (line.match(rejected) ?? []).map((word) => `${path}:${index + 1}: ${word}`)),
    );
};

/** Of lines of code, as Biome breaks them. */
const MAX_COLUMNS = 120;
/** Made from the contract. */
const MADE = /^client\/rest\/calls\.ts$|\/generated\//;

/** Lines of comments in TypeScript are no wider than code: Biome breaks none. */
export const checkComments: Check = ({ files, textOf }) =>
  files
    .filter((path) => /\.tsx?$/.test(path) && !MADE.test(path))
    .flatMap((path) =>
      textOf(path)
        .split('\n')
        .flatMap((line, index) =>
          line.length > MAX_COLUMNS && /^\s*(\/\/|\/?\*)/.test(line)
            ? [`${path}:${index + 1}: ${line.length} columns`]
            : [],
        ),
    );
