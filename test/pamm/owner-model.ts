/** The holder of the key that first used each uuid, by uuid. */
export type OwnerModel = ReadonlyMap<string, string>;

/**
 * Who may update a uuid, in plain terms, as a reference for `register.lua`: the holder of the key that first used it,
 * and nobody else. Lifetimes are left out.
 */
export function claimInModel(
  model: OwnerModel,
  uuid: string,
  holder: string,
): { readonly model: OwnerModel; readonly isOwner: boolean } {
  const owner = model.get(uuid);
  if (owner !== undefined) return { model, isOwner: owner === holder };
  return { model: new Map(model).set(uuid, holder), isOwner: true };
}
