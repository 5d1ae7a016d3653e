/** The Files tab: the list, or the file in the address. */
import './files.css';
import type { TabProps } from '../board/tab-props.ts';
import { FileList } from './file-list.tsx';
import { FilePage } from './file-page.tsx';

export default function FilesTab({ here, room }: TabProps) {
  if (here.file === undefined) return <FileList room={room} />;
  return <FilePage key={`${room.name} ${here.file}`} here={here} file={here.file} room={room} />;
}
