import { sidebarIn } from './sidebar';

sidebarIn('en-US');
