const MAX_SOURCE = 300;

/** What was waited for and how long, for the failure of a wait. */
export function describeWait(holds: (...of: never[]) => unknown, ms: number): string {
  const source = String(holds)
    .replace(/\(0,\s*__vite_ssr_import_\d+__[.](\w+)\)/g, '$1')
    .replace(/__vite_ssr_import_\d+__[.]/g, '')
    .replace(/\s+/g, ' ');
  return `waited ${(ms / 1_000).toFixed(1)} s for ${source.slice(0, MAX_SOURCE)}`;
}
