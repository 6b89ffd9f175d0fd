/* Files that the package of Ponder does not export: `build.ts` finds them. */

declare module 'ponder:start' {
  export function start(parameters: { readonly cliOptions: object }): Promise<unknown>;
}

declare module 'ponder:package' {
  export const version: string;
}
