/** What a search can find. */
export const searchKinds = ['message', 'task', 'file'] as const;
