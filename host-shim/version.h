/* version.h -- the version of the host library and the command. */
#ifndef HSPZ_HOST_VERSION_H
#define HSPZ_HOST_VERSION_H

#define HSPZ_VERSION "0.1.0"

#endif
