import { type ComponentType, render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { followLink, here } from './location.ts';
import { PoolsPage } from './pages/pools.tsx';

const NAME = document.querySelector<HTMLMetaElement>('meta[name=application-name]')?.content ?? '';
const LOGO = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.getAttribute('href') ?? '';

type Page = { readonly title: string; readonly load: () => Promise<ComponentType> };

/** Every page but the first is loaded when it is opened. */
const PAGES: readonly (readonly [path: RegExp, page: Page])[] = [
  [/^\/pool\/\d+\/0x[0-9a-f]{40}$/i, { title: 'Pool', load: async () => (await import('./pages/pool.tsx')).PoolPage }],
  [/^\/route$/, { title: 'Quote a trade', load: async () => (await import('./pages/route.tsx')).RoutePage }],
  [/^\/status$/, { title: 'Status', load: async () => (await import('./pages/status.tsx')).StatusPage }],
  [/^\/glossary$/, { title: 'Glossary', load: async () => (await import('./pages/glossary.tsx')).GlossaryPage }],
];

const LINKS = [
  ['/', 'Pools'],
  ['/route', 'Quote a trade'],
  ['/status', 'Status'],
  ['/glossary', 'Glossary'],
] as const;

function App() {
  const { pathname } = here.value;
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header>
        <a class="brand" href="/">
          {LOGO.startsWith('/') && <img src={LOGO} alt="" width="24" height="24" />}
          <bdi>{NAME}</bdi>
        </a>
        <nav aria-label="Pages">
          {LINKS.map(([path, label]) => (
            <a key={path} href={path} aria-current={pathname === path ? 'page' : undefined}>
              {label}
            </a>
          ))}
        </nav>
      </header>
      <main id="content" tabIndex={-1}>
        {pathname === '/' ? <PoolsPage /> : <OtherPage key={pathname} path={pathname} />}
      </main>
      <footer>
        <a href="/docs">API reference</a>
        <a href="/openapi.json">OpenAPI document</a>
        <a href="/asyncapi.json">AsyncAPI document</a>
        <span>No account, no cookies, nothing from another host.</span>
      </footer>
    </>
  );
}

function OtherPage({ path }: { readonly path: string }) {
  const [Shown, show] = useState<ComponentType | null>(null);
  const [failed, fail] = useState(false);
  const page = PAGES.find(([pattern]) => pattern.test(path))?.[1];
  useEffect(() => {
    document.title = `${page?.title ?? 'Not found'} · ${NAME}`;
    page?.load().then(
      (component) => show(() => component),
      () => fail(true),
    );
    return () => {
      document.title = NAME;
    };
  }, [path]);
  if (!page) return <h1>There is no such page</h1>;
  if (failed) return <p role="alert">This page could not be loaded. Reload to try again.</p>;
  return Shown && <Shown />;
}

document.addEventListener('click', followLink);
const root = document.getElementById('app');
if (root) render(<App />, root);
