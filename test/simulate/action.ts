/**
 * What happens in a simulation, besides blocks. `at`, `ms`: milliseconds. Numbers name pools, sources,
 * readers, processes, nodes.
 */
export type Action = { readonly at: number } & (
  | { readonly do: 'price' | 'cancel'; readonly pool: number }
  | { readonly do: 'trade'; readonly pools: readonly number[] }
  | { readonly do: 'publish'; readonly blocks: number }
  | { readonly do: 'unpublish' }
  /** All live prices end. */
  | { readonly do: 'hush' }
  /** A price ends soon after it began, while a reader moves to another process, which may not hear of it. */
  | {
      readonly do: 'flash';
      readonly pool: number;
      readonly ms: number;
      readonly reader: number;
      readonly to: number;
      readonly isLost: boolean;
    }
  /** A reader's connection ends; the next one reaches this process. */
  | { readonly do: 'move'; readonly reader: number; readonly to: number; readonly isSilent: boolean }
  | { readonly do: 'take'; readonly reader: number; readonly to: number }
  | { readonly do: 'slow'; readonly reader: number; readonly ms: number }
  /**
   * The market rests: blocks take longer, and sources repeat what they say less often, `null`: never. What makers say
   * is sent at once all the same.
   */
  | { readonly do: 'rest'; readonly blockMs: number | null; readonly repeatMs: number | null; readonly ms: number }
  /** A reader follows nothing for a while. */
  | { readonly do: 'away'; readonly who: 'readers' | 'takers'; readonly reader: number; readonly ms: number }
  /** A process ends because there is little to do, and another one starts later. */
  | { readonly do: 'scale'; readonly process: number; readonly ms: number; readonly skewMs: number }
  | Fault
);

/** What goes wrong for a while. */
export type Fault =
  | { readonly do: 'lie'; readonly pool: number; readonly ms: number }
  | { readonly do: 'silence'; readonly source: number | 'all'; readonly ms: number }
  | { readonly do: 'leap'; readonly source: number | 'all'; readonly by: number; readonly ms: number }
  | { readonly do: 'stop'; readonly process: number; readonly ms: number }
  | {
      readonly do: 'kill';
      readonly process: number;
      readonly ms: number;
      readonly skewMs: number;
      readonly isSilent: boolean;
    }
  | {
      readonly do: 'node';
      readonly node: number | 'all';
      readonly becomes: 'down' | 'slow' | 'hangs' | 'blind';
      readonly ms: number;
    }
  | { readonly do: 'lag'; readonly node: number; readonly lagMs: number; readonly ms: number }
  | { readonly do: 'redis'; readonly becomes: 'down' | 'hangs'; readonly isForgotten: boolean; readonly ms: number }
  | {
      readonly do: 'weather';
      readonly lost: number;
      readonly twice: number;
      readonly lateMs: number;
      readonly ms: number;
    }
  | { readonly do: 'reorganise'; readonly depth: number; readonly others: number; readonly ms: number }
  | { readonly do: 'empty'; readonly process: number; readonly ms: number };
