# crate.cmake - sources of libraries, for what can't be linked with the distribution's: the page's WebAssembly modules and the 32-bit
# tests. They are those inside of Rust crates, which cargo fetches; what it fetched is compared with a hash, and stays in the build tree.
# strobe_crate_source(OUT WHY name version sha256 header "crate version ...") sets OUT to the folder of the sources (that of `header`, a path
# inside of the crate), or WHY to the reason that there is none. The crates behind it are those that it would be built with.

# The crate alone: what it would be built with is replaced by crates without content.
function(strobe_crate_describe folder name version needs)
    set(patches "")
    while(needs)
        list(POP_FRONT needs need need_version)
        string(APPEND patches "${need} = {path = \"${need}\"}\n")
        file(WRITE ${folder}/${need}/Cargo.toml "[package]\nname = \"${need}\"\nversion = \"${need_version}\"\nedition = \"2018\"\n"
            "[lib]\npath = \"../lib.rs\"\n[features]\nparallel = []\nruntime = []\nwhich-rustfmt = []\n")
    endwhile()
    file(WRITE ${folder}/lib.rs "")
    file(WRITE ${folder}/Cargo.toml "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2018\"\n[lib]\npath = \"lib.rs\"\n"
        "[dependencies]\n${name} = \"=${version}\"\n[patch.crates-io]\n${patches}[workspace]\n")
endfunction()

function(strobe_crate_source out why name version sha256 header needs)
    set(folder ${CMAKE_BINARY_DIR}/crates/${name})
    get_filename_component(source ${folder}/vendor/${name}/${header} DIRECTORY)
    find_program(STROBE_CARGO cargo PATHS $ENV{HOME}/.cargo/bin)
    if(NOT EXISTS ${folder}/vendor/${name}/${header} AND STROBE_CARGO)
        separate_arguments(needs)
        strobe_crate_describe(${folder} ${name} ${version} "${needs}")
        execute_process(COMMAND ${CMAKE_COMMAND} -E env CARGO_NET_RETRY=1 ${STROBE_CARGO} vendor --quiet vendor
            WORKING_DIRECTORY ${folder} TIMEOUT 120 OUTPUT_QUIET ERROR_QUIET)
    endif()
    set(${out} "" PARENT_SCOPE)
    if(NOT EXISTS ${folder}/vendor/${name}/${header})
        if(STROBE_CARGO)
            set(${why} "cargo could not fetch the crate ${name}" PARENT_SCOPE)
        else()
            set(${why} "there is no cargo to fetch the crate ${name} with" PARENT_SCOPE)
        endif()
        return()
    endif()
    file(READ ${folder}/vendor/${name}/.cargo-checksum.json sums)
    if(NOT sums MATCHES "\"package\": *\"${sha256}\"")
        set(${why} "the fetched crate ${name} is not the one that is expected" PARENT_SCOPE)
        return()
    endif()
    set(${out} ${source} PARENT_SCOPE)
endfunction()
