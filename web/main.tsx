import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { followLink, here } from './location.ts';
import { PoolsPage } from './pages/pools.tsx';

const NAME = document.querySelector<HTMLMetaElement>('meta[name=application-name]')?.content ?? '';
const LOGO = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.getAttribute('href') ?? '';

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

type Pages = typeof import('./pages/other-pages.ts');

/** Any page but the first. All of these are loaded together when one is opened: browsers fetch few files at a time. */
function OtherPage({ path }: { readonly path: string }) {
  const [pages, show] = useState<Pages | null>(null);
  const [failed, fail] = useState(false);
  useEffect(() => {
    import('./pages/other-pages.ts').then(show, () => fail(true));
  }, []);
  const page = pages?.pageAt(path);
  useEffect(() => {
    if (pages) document.title = `${page?.title ?? 'Not found'} · ${NAME}`;
    return () => {
      document.title = NAME;
    };
  }, [pages, path]);
  if (failed) return <p role="alert">This page could not be loaded. Reload to try again.</p>;
  if (!pages) return null;
  return page ? <page.Page /> : <h1>There is no such page</h1>;
}

document.addEventListener('click', followLink);
const root = document.getElementById('app');
if (root) render(<App />, root);
