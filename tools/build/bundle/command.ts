/** The command in one file: where the bundle begins. */
import { main } from '@coxswain/cli'

main(process.argv)
