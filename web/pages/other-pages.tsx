import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
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

type Props = {
  readonly path: string;
  /** Of the explorer, for the title. */
  readonly name: string;
};

/** The page of a path other than `/`. */
export function PageAt({ path, name }: Props) {
  const page = PAGES.find(([pattern]) => pattern.test(path))?.[1];
  useEffect(() => {
    document.title = `${page?.title ?? 'Not found'} · ${name}`;
    return () => {
      document.title = name;
    };
  }, [path, name]);
  return page ? <page.Page /> : <h1>There is no such page</h1>;
}
