import { signal } from '@preact/signals';

/** The present address of the page. */
export const here = signal(new URL(location.href));

addEventListener('popstate', () => {
  here.value = new URL(location.href);
});

/** Shows another address of this page. @param replace whether "back" skips the present one */
export function go(href: string, replace = false): void {
  const next = new URL(href, location.href);
  if (next.href === here.value.href) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', next);
  const isOtherPage = next.pathname !== here.value.pathname;
  here.value = next;
  if (isOtherPage) scrollTo(0, 0);
}

/** Addresses that the service serves itself, not this page. */
const NOT_PAGES = /^\/(docs|public|(openapi|asyncapi)\.json|assets)/;

/** Follows a plain click on a link of this page without reloading it. */
export function followLink(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest?.('a');
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  if (link.target !== '' || link.origin !== location.origin || NOT_PAGES.test(link.pathname)) return;
  event.preventDefault();
  go(link.href);
  if (link.hash === '') return;
  const target = document.getElementById(link.hash.slice(1));
  target?.scrollIntoView();
  // As a browser that follows the link itself: the next key acts there.
  target?.focus();
}
