import { type Check, GENERATED } from './project.ts';
import { type PagePromise, PROMISES } from './promises.ts';

/** What admits no exception; not how often something happens. */
const ABSOLUTE =
  /\b(?:every(?! (?:\d|[a-z]+ (?:seconds|minutes|ms)\b|(?:second|minute|hour|day|tenth|half)\b))|any|never|at once)\b/gi;

/** The text of a page without its examples, on one line. */
const proseOf = (text: string) => text.replaceAll(/```[\s\S]*?```/g, '').replaceAll(/\s+/g, ' ');

/** What pages promise without exception has a test: reword it, or add it to `promises.ts`. */
export const checkPromises: Check = ({ pages, textOf }) => {
  const isProven = (page: string, prose: string, at: number) =>
    PROMISES.some(({ page: of, part }) => {
      const start = of === page ? prose.indexOf(part) : -1;
      return start >= 0 && start <= at && at < start + part.length;
    });
  return pages
    .filter((page) => !GENERATED.includes(page) && page !== 'CHANGELOG.md')
    .flatMap((page) => {
      const prose = proseOf(textOf(page));
      return [...prose.matchAll(ABSOLUTE)]
        .filter(({ index }) => !isProven(page, prose, index))
        .map(({ index }) => `${page}: no test for "${prose.slice(Math.max(0, index - 40), index + 60)}"`);
    });
};

/** Each promise is in its page once, and its test exists. */
export const checkPromiseTests: Check = ({ files, textOf }) => {
  const isKept = ({ page, part, test: [file, name] }: PagePromise) =>
    proseOf(textOf(page)).split(part).length === 2 &&
    part.search(ABSOLUTE) >= 0 &&
    files.includes(file) &&
    textOf(file).includes(name);
  return PROMISES.filter((promise) => !isKept(promise)).map(
    ({ page, part, test }) => `${page}: "${part}", tested by ${test.join(': ')}`,
  );
};
