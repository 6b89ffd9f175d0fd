import type { ComponentType } from 'preact';
import { Keys } from '../parts/keys.tsx';
import { GlossaryPage } from './glossary.tsx';
import { PoolPage } from './pool.tsx';
import { RoutePage } from './route.tsx';
import { StatusPage } from './status.tsx';

interface OtherPage {
  readonly title: string;
  readonly Page: ComponentType;
}

const PAGES: readonly (readonly [path: RegExp, page: OtherPage])[] = [
  [/^\/pool\/\d+\/0x[0-9a-f]{40}$/i, { title: 'Pool', Page: PoolPage }],
  [/^\/route$/, { title: 'Quote a trade', Page: RoutePage }],
  [/^\/status$/, { title: 'Status', Page: StatusPage }],
  [/^\/glossary$/, { title: 'Glossary', Page: GlossaryPage }],
];

/** The keys come with these pages, since one file more would delay the first rows. */
export const keysComponent = (): ComponentType => Keys;

/** The page of a path other than `/`. */
export const pageAt = (path: string): OtherPage | undefined => PAGES.find(([pattern]) => pattern.test(path))?.[1];
