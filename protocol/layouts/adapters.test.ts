import { expect, it } from 'vitest';
import { SUPPORTED_LAYOUTS } from '../../config/chains-schema.ts';
import { layoutAdapter } from './adapters.ts';

it.each(SUPPORTED_LAYOUTS)('has an adapter for the layout %s, which deployments may use', (layout) => {
  expect(layoutAdapter(layout).layout).toBe(layout);
});

it('names a layout that it does not know', () => {
  expect(() => layoutAdapter('packed')).toThrow('packed');
});
