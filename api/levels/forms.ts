/**
 * The published forms of price levels, a block builder's and that of relayers by BAP-710: how each calls the list of
 * levels, the field that says how an output is known, and its values.
 */
export const FORMS = {
  builder: { list: 'orderBook', kind: 'variant', exact: 'Simulated', other: 'Interpolated' },
  bap710: { list: 'levels', kind: 'source', exact: 'simulated', other: 'interpolated' },
} as const;

export type LevelsFormat = keyof typeof FORMS;
export const FORMATS = Object.keys(FORMS) as LevelsFormat[];
