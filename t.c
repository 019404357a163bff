#include <sqlite3.h>
#include <zstd.h>
#include <xxhash.h>
#include <elfutils/libdwfl.h>
int f(void){sqlite3*d; sqlite3_open(":memory:",&d); dwfl_begin(0); XXH3_64bits("",0); return (int)ZSTD_versionNumber()+ (int)ZSTD_compressBound(3)+ (ZSTD_createCCtx()!=0)+(ZSTD_createDCtx()!=0);}
