import { expect, test } from 'vitest';
import { GENERATED, pages, textOf } from './pages.ts';
import { type PagePromise, PROMISES } from './promises.ts';

/** What admits no exception; not how often something happens. */
const ABSOLUTE =
  /\b(?:every(?! (?:\d|[a-z]+ (?:seconds|minutes|ms)\b|(?:second|minute|hour|day|tenth|half)\b))|any|never|at once)\b/gi;

/** The text of a page without its examples, on one line. */
const proseOf = (page: string) =>
  textOf(page)
    .replaceAll(/```[\s\S]*?```/g, '')
    .replaceAll(/\s+/g, ' ');

test('what pages promise without exception has a test: reword it, or add it to test/operations/promises.ts', () => {
  const isProven = (page: string, prose: string, at: number) =>
    PROMISES.some(({ page: of, part }) => {
      const start = of === page ? prose.indexOf(part) : -1;
      return start >= 0 && start <= at && at < start + part.length;
    });
  const unproven = pages
    .filter((page) => !GENERATED.includes(page) && page !== 'CHANGELOG.md')
    .flatMap((page) => {
      const prose = proseOf(page);
      return [...prose.matchAll(ABSOLUTE)]
        .filter(({ index }) => !isProven(page, prose, index))
        .map(({ index }) => `${page}: ${prose.slice(Math.max(0, index - 40), index + 60)}`);
    });
  expect(unproven).toEqual([]);
});

test('each promise is in its page once, and its test exists', () => {
  const isKept = ({ page, part, test: [file, name] }: PagePromise) =>
    proseOf(page).split(part).length === 2 && part.search(ABSOLUTE) >= 0 && textOf(file).includes(name);
  expect(PROMISES.filter((promise) => !isKept(promise))).toEqual([]);
});
