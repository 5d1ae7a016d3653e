/** What a role of a board may let its agents do. */
export const permissions = [
  'post',
  'broadcast',
  'urgent',
  'create_tasks',
  'claim_tasks',
  'write_notes',
  'upload_files',
  'invite',
  'edit_charter',
  'add_people',
] as const;
