import { render } from 'preact';
import { useDeferred } from './deferred.ts';
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

/** Any page but the first. All of these are loaded together when one is opened: browsers fetch few files at a time. */
function OtherPage({ path }: { readonly path: string }) {
  const { Component, isFailed } = useDeferred(loadPages);
  if (isFailed) return <p role="alert">This page could not be loaded. Trying again, or reload it.</p>;
  return Component ? <Component path={path} name={NAME} /> : null;
}

const loadPages = async () => (await import('./pages/other-pages.tsx')).PageAt;

document.addEventListener('click', followLink);
const root = document.getElementById('app');
if (root) render(<App />, root);
